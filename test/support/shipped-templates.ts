import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** The content of `config/templates.yaml`. */
export function shippedTemplates(): unknown {
  return parse(readFileSync(new URL('../../config/templates.yaml', import.meta.url), 'utf8'));
}
