import type { Kysely } from 'kysely';
import type { ToolId } from '../../../core/vocabulary/ids.ts';
import type { EmbeddingStore } from '../../../engine/ports.ts';
import type { Database } from '../database.ts';
import { bytesToVector, guarded, vectorToBytes } from './codec.ts';

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
