import type { Kysely, Selectable } from 'kysely';
import type { ToolId } from '../../../core/vocabulary/ids.ts';
import type { ToolAnnotations, ToolDefinition } from '../../../core/vocabulary/tool-definition.ts';
import type { EmbeddingStore, ServerRecord, ServerStore, ToolStore } from '../../../engine/ports.ts';
import type { Database } from '../database.ts';
import { bytesToVector, guarded, json, text, vectorToBytes } from './codec.ts';

export function sqlTools(db: Kysely<Database>): ToolStore {
  return {
    put: (definitions) =>
      guarded('Storing tool definitions', () =>
        db.transaction().execute(async (tx) => {
          for (const definition of definitions) {
            const row = { ...toRow(definition), retired: false, proposed: null };
            await tx
              .insertInto('tool_schema')
              .values(row)
              .onConflict((c) => c.column('tool_id').doUpdateSet(row))
              .execute();
          }
        }),
      ),

    get: (id) =>
      guarded(`Reading tool ${id}`, async () => {
        const row = await db
          .selectFrom('tool_schema')
          .selectAll()
          .where('tool_id', '=', text(id))
          .executeTakeFirst();
        return row ? fromRow(row) : null;
      }),

    list: (server) =>
      guarded('Listing tools', async () => {
        let query = db.selectFrom('tool_schema').selectAll().where('retired', '=', false);
        if (server !== undefined) query = query.where('server_id', '=', text(server));
        const rows = await query.execute();
        return rows.map(fromRow).sort((a, b) => (a.id < b.id ? -1 : 1));
      }),

    retire: (ids) =>
      guarded('Retiring tools', async () => {
        if (ids.length === 0) return;
        await db
          .updateTable('tool_schema')
          .set({ retired: true })
          .where('tool_id', 'in', [...ids])
          .execute();
      }),

    propose: (definitions) =>
      guarded('Storing proposed definitions', () =>
        db.transaction().execute(async (tx) => {
          for (const definition of definitions) {
            await tx
              .updateTable('tool_schema')
              .set({ proposed: json(definition), retired: false })
              .where('tool_id', '=', definition.id)
              .execute();
          }
        }),
      ),

    proposed: () =>
      guarded('Listing proposed definitions', async () => {
        const rows = await db
          .selectFrom('tool_schema')
          .select('proposed')
          .where('proposed', 'is not', null)
          .where('retired', '=', false)
          .execute();
        return rows.map((row) => row.proposed as ToolDefinition).sort((a, b) => (a.id < b.id ? -1 : 1));
      }),

    remove: (ids) =>
      guarded('Removing tools', async () => {
        if (ids.length === 0) return;
        await db
          .deleteFrom('tool_schema')
          .where('tool_id', 'in', [...ids])
          .execute();
      }),

    observeOutputs: (schemas) =>
      guarded('Storing observed outputs', () =>
        db.transaction().execute(async (tx) => {
          for (const [id, schema] of schemas) {
            await tx
              .updateTable('tool_schema')
              .set({ observed_output: json(schema) })
              .where('tool_id', '=', text(id))
              .execute();
          }
        }),
      ),

    observedOutputs: () =>
      guarded('Listing observed outputs', async () => {
        const rows = await db
          .selectFrom('tool_schema')
          .select(['tool_id', 'observed_output'])
          .where('observed_output', 'is not', null)
          .where('retired', '=', false)
          .execute();
        return new Map(rows.map((row) => [row.tool_id as ToolId, row.observed_output]));
      }),
  };
}

/**
 * Key for fields without a column. They are stored with the annotations; no annotation can have this name.
 */
const OTHER_FIELDS = 'pml:other_fields';

/** Without the observed output, which stays when the definition is replaced. */
function toRow(definition: ToolDefinition) {
  return {
    tool_id: text(definition.id),
    server_id: definition.server,
    name: text(definition.name),
    description: text(definition.description),
    input_schema: json(definition.inputSchema),
    output_schema: json(definition.outputSchema),
    annotations: json(annotationsToRow(definition)),
    definition_hash: definition.definitionHash,
  };
}

function annotationsToRow({ annotations, otherFields }: ToolDefinition): unknown {
  const { [OTHER_FIELDS]: _, ...own } = (annotations ?? {}) as Record<string, unknown>;
  if (!otherFields) return annotations && own;
  return { ...own, [OTHER_FIELDS]: { fields: otherFields, hasAnnotations: annotations !== undefined } };
}

function annotationsFromRow(stored: unknown): Pick<ToolDefinition, 'annotations' | 'otherFields'> {
  if (stored === null) return {};
  const { [OTHER_FIELDS]: other, ...annotations } = stored as Record<string, unknown>;
  if (other === undefined) return { annotations: annotations as ToolAnnotations };
  const { fields, hasAnnotations } = other as {
    fields: ToolDefinition['otherFields'] & object;
    hasAnnotations: boolean;
  };
  return {
    ...(hasAnnotations && { annotations: annotations as ToolAnnotations }),
    otherFields: fields,
  };
}

function fromRow(row: Selectable<Database['tool_schema']>): ToolDefinition {
  return {
    id: row.tool_id as ToolId,
    server: row.server_id,
    name: row.name,
    description: row.description,
    inputSchema: row.input_schema,
    ...(row.output_schema !== null && { outputSchema: row.output_schema }),
    ...annotationsFromRow(row.annotations),
    definitionHash: row.definition_hash,
  };
}

export function sqlServers(db: Kysely<Database>): ServerStore {
  return {
    put: ({ name, settingsHash, identity, refreshedAt }) =>
      guarded(`Storing server ${name}`, async () => {
        const fresh = { settings_hash: settingsHash, identity: json(identity), refreshed_at: refreshedAt };
        await db
          .insertInto('upstream_server')
          .values({ name, ...fresh })
          .onConflict((c) => c.column('name').doUpdateSet(fresh))
          .execute();
      }),

    list: () =>
      guarded('Listing servers', async () => {
        const rows = await db.selectFrom('upstream_server').selectAll().execute();
        return rows
          .map((row) => ({
            name: row.name,
            settingsHash: row.settings_hash,
            identity: row.identity as ServerRecord['identity'],
            refreshedAt: row.refreshed_at,
          }))
          .sort((a, b) => (a.name < b.name ? -1 : 1));
      }),

    remove: (name) =>
      guarded(`Removing server ${name}`, async () => {
        await db.deleteFrom('upstream_server').where('name', '=', name).execute();
      }),
  };
}

export function sqlEmbeddings(db: Kysely<Database>): EmbeddingStore {
  return {
    put: (embeddings) =>
      guarded('Storing embeddings', () =>
        db.transaction().execute(async (tx) => {
          for (const { toolId, model, definitionHash, vector } of embeddings) {
            const fresh = { definition_hash: definitionHash, embedding: vectorToBytes(vector) };
            await tx
              .insertInto('tool_embedding')
              .values({ tool_id: toolId, model, ...fresh })
              .onConflict((c) => c.columns(['tool_id', 'model']).doUpdateSet(fresh))
              .execute();
          }
        }),
      ),

    list: (model) =>
      guarded(`Listing embeddings of ${model}`, async () => {
        const rows = await db.selectFrom('tool_embedding').selectAll().where('model', '=', model).execute();
        return rows
          .map((row) => ({
            toolId: row.tool_id as ToolId,
            model: row.model,
            definitionHash: row.definition_hash,
            vector: bytesToVector(row.embedding),
          }))
          .sort((a, b) => (a.toolId < b.toolId ? -1 : 1));
      }),
  };
}
