import { type Kysely, type Selectable, sql } from 'kysely';
import type { NodeId } from '../../../core/vocabulary/ids.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { Ownership } from '../../../core/vocabulary/principal.ts';
import type {
  Capability,
  CapabilityEvidence,
  CapabilityStore,
  CapabilityTemplate,
} from '../../../engine/ports.ts';
import type { Database } from '../database.ts';
import { guarded, json, text } from './codec.ts';

/** The `dag_structure` column: what a capability does, as one document. */
interface DagStructure {
  readonly tools_used: readonly string[];
  readonly tool_invocations: readonly unknown[];
  readonly static_structure: unknown;
  /** Absent in rows of the first schema. */
  readonly template?: CapabilityTemplate;
  readonly evidence?: CapabilityEvidence;
  readonly ownership?: Ownership;
  readonly intent_text: string;
}

const NO_EVIDENCE: CapabilityEvidence = {
  recent: [],
  runIds: [],
  definitionHashes: {},
  intents: [],
  quarantinedBecause: null,
};

export function sqlCapabilities(db: Kysely<Database>): CapabilityStore {
  const one = async (column: 'pattern_id' | 'slug' | 'code_hash', value: string) => {
    const row = await db
      .selectFrom('workflow_pattern')
      .selectAll()
      .where(column, '=', value)
      .executeTakeFirst();
    return row ? fromRow(row) : null;
  };
  const byAlias = async (alias: string) => {
    const row = await db
      .selectFrom('workflow_pattern')
      .selectAll()
      .where(sql<boolean>`${alias} = any(aliases)`)
      .executeTakeFirst();
    return row ? fromRow(row) : null;
  };

  return {
    put: (capability) =>
      guarded(`Storing capability ${capability.slug}`, () =>
        db.transaction().execute(async (tx) => {
          const names = [capability.slug, ...capability.aliases];
          const taken = await tx
            .selectFrom('workflow_pattern')
            .select('slug')
            .where('pattern_id', '!=', capability.id)
            .where((e) => e.or([e('slug', 'in', names), sql<boolean>`aliases && ${names}::text[]`]))
            .executeTakeFirst();
          if (taken) {
            throw new PmlError(
              'store_conflict',
              `Capability "${taken.slug}" already uses one of the names ${names.join(', ')}`,
            );
          }
          const { pattern_id, ...rest } = toRow(capability);
          const { numInsertedOrUpdatedRows } = await tx
            .insertInto('workflow_pattern')
            .values({ pattern_id, ...rest })
            .onConflict((c) =>
              c
                .column('pattern_id')
                .doUpdateSet(rest)
                .where('workflow_pattern.revision', '=', capability.revision - 1),
            )
            .executeTakeFirst();
          if (numInsertedOrUpdatedRows === 0n) {
            throw new PmlError(
              'store_conflict',
              `Capability "${capability.slug}" was changed by another process`,
            );
          }
        }),
      ),

    get: (id) => guarded(`Reading capability ${id}`, () => one('pattern_id', id)),
    find: (slug) =>
      guarded(`Finding capability ${slug}`, async () => (await one('slug', slug)) ?? byAlias(slug)),
    findByCodeHash: (hash) => guarded('Finding a capability by its code', () => one('code_hash', hash)),

    list: () =>
      guarded('Listing capabilities', async () => {
        const rows = await db.selectFrom('workflow_pattern').selectAll().execute();
        return rows.map(fromRow).sort((a, b) => (a.slug < b.slug ? -1 : 1));
      }),

    remove: (id) =>
      guarded(`Removing capability ${id}`, async () => {
        const { numDeletedRows } = await db
          .deleteFrom('workflow_pattern')
          .where('pattern_id', '=', id)
          .executeTakeFirst();
        return numDeletedRows > 0n;
      }),
  };
}

function toRow(capability: Capability) {
  const structure: DagStructure = {
    tools_used: capability.toolsUsed,
    tool_invocations: capability.toolInvocations,
    static_structure: capability.staticStructure,
    template: capability.template,
    evidence: capability.evidence,
    ownership: { owner: capability.owner, visibility: capability.visibility },
    intent_text: capability.intentText,
  };
  return {
    pattern_id: capability.id,
    slug: capability.slug,
    aliases: [...capability.aliases],
    description: text(capability.description),
    code_hash: capability.codeHash,
    code_snippet: text(capability.code),
    parameters_schema: json(capability.parametersSchema),
    // An unknown schema is JSON's null: the column is not nullable.
    output_schema: sql`${JSON.stringify(capability.outputSchema ?? null)}::json`,
    dag_structure: json(structure),
    state: capability.state,
    usage_count: capability.uses,
    success_count: capability.successes,
    revision: capability.revision,
    created_at: capability.createdAt,
    updated_at: capability.updatedAt,
  };
}

function fromRow(row: Selectable<Database['workflow_pattern']>): Capability {
  const structure = row.dag_structure as DagStructure;
  return {
    id: row.pattern_id,
    slug: row.slug,
    aliases: row.aliases,
    description: row.description,
    codeHash: row.code_hash,
    code: row.code_snippet,
    parametersSchema: row.parameters_schema,
    outputSchema: row.output_schema,
    toolsUsed: structure.tools_used as NodeId[],
    toolInvocations: structure.tool_invocations,
    staticStructure: structure.static_structure,
    template: structure.template ?? { source: row.code_snippet, slots: [] },
    evidence: { ...NO_EVIDENCE, ...structure.evidence },
    intentText: structure.intent_text,
    ...(structure.ownership ?? { owner: null, visibility: 'shared' }),
    state: row.state as Capability['state'],
    uses: row.usage_count,
    successes: row.success_count,
    revision: row.revision,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
