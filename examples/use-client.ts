/**
 * A program that asks a running gateway, by the typed client: `npm install pml-gateway`, start `pml serve`, run this.
 */
import { connect, PmlError } from 'pml-gateway';

const pml = await connect();
const { tools } = await pml.searchTools({ query: 'read a file', limit: 3 });
for (const { tool_id, final_score } of tools) console.log(tool_id, final_score.toFixed(2));

try {
  const run = await pml.runCapability({ slug: 'weekly-report', arguments: { week: 46 } });
  console.log(run.status, run.result);
} catch (error) {
  if (!(error instanceof PmlError)) throw error;
  console.error(error.code, error.message, error.hint);
}
