import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { LineCounter, parseDocument } from 'yaml';
import { readTemplates, type TemplateEdge } from '../../core/graph/templates.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import { decodeText } from './text-file.ts';

const SHIPPED = fileURLToPath(new URL('../../../config/templates.yaml', import.meta.url));

/** Which tools usually precede which: from the file in the settings, or else from the one PML ships. */
export async function loadTemplates(file: string | null): Promise<TemplateEdge[]> {
  const path = file ?? SHIPPED;
  const content = readYaml(path, await readText(path));
  try {
    return readTemplates(content);
  } catch (error) {
    const { code, message, hint } = PmlError.from(error);
    throw new PmlError(code, `${path}: ${message}`, { cause: error, ...(hint !== undefined && { hint }) });
  }
}

function readYaml(path: string, text: string): unknown {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  if (document.errors.length === 0) return contentOf(path, document);
  const problems = document.errors.map(({ pos, message }) => {
    const { line, col } = lines.linePos(pos[0]);
    return `${path}:${line}:${col} ${message}`;
  });
  throw new PmlError('config_invalid', `The templates are not valid YAML: ${problems.join('; ')}`, {
    hint: `Fix the file, or remove "templates" from pml.json to use ${SHIPPED}.`,
  });
}

/** The parser refuses aliases that expand into huge values. */
function contentOf(path: string, document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS();
  } catch (cause) {
    throw new PmlError(
      'config_invalid',
      `The templates in ${path} cannot be used: ${(cause as Error).message}`,
      {
        cause,
      },
    );
  }
}

async function readText(path: string): Promise<string> {
  try {
    return decodeText(await readFile(path)).text;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const isMissing = code === 'ENOENT' || code === 'ENOTDIR';
    throw new PmlError(
      isMissing ? 'config_not_found' : 'config_invalid',
      isMissing ? `Templates file ${path} not found` : `The templates file ${path} cannot be read (${code})`,
      { hint: 'Fix "templates" in pml.json, or remove it to use the shipped templates.', cause },
    );
  }
}
