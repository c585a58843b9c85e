import { writeFileSync } from 'node:fs';
import { configJsonSchema } from '../src/adapters/config/read-config.ts';

/** Writes the JSON Schema of pml.json from the zod schema; the package includes it for editors. */
const file = new URL('../pml.schema.json', import.meta.url);
writeFileSync(file, `${JSON.stringify(configJsonSchema(), null, 2)}\n`);
console.log('wrote pml.schema.json');
