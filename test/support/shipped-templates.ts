import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** What `config/templates.yaml` says. */
export function shippedTemplates(): unknown {
  return parse(readFileSync(new URL('../../config/templates.yaml', import.meta.url), 'utf8'));
}
