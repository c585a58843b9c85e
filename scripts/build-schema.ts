import { writeFileSync } from 'node:fs';
import { schemaFileText } from '../src/adapters/config/explain-issue.ts';

/** Writes the JSON Schema of pml.json from its one source, the zod schema. */
const file = new URL('../pml.schema.json', import.meta.url);
writeFileSync(file, schemaFileText());
console.log('wrote pml.schema.json');
