import { EDGE_TYPES, type EdgeType } from '../vocabulary/edge.ts';
import { parseToolId, type ToolId } from '../vocabulary/ids.ts';
import { PmlError } from '../vocabulary/pml-error.ts';
import { isJsonObject } from '../vocabulary/read-wire.ts';

const DEFAULTS = { type: 'dependency' as EdgeType };

export interface TemplateEdge {
  readonly from: ToolId;
  readonly to: ToolId;
  readonly type: EdgeType;
}

/**
 * Edges of a templates file, given as the parsed YAML:
 *
 *   templates:
 *     browser_automation:
 *       description: Web scraping and screenshots
 *       type: sequence            # optional; the default is dependency
 *       edges:
 *         - [playwright:browser_navigate, playwright:browser_click]
 *         - [playwright:browser_navigate, playwright:browser_snapshot, dependency]
 *
 * Reports every problem at once, with its place. Pairs of a tool with itself are rejected.
 */
export function readTemplates(file: unknown): TemplateEdge[] {
  const problems: string[] = [];
  const edges = new Map<string, TemplateEdge>();
  const templates = isJsonObject(file) ? file.templates : undefined;
  if (!isJsonObject(templates)) problems.push('"templates" must be a map of names to templates');
  else {
    for (const [name, template] of Object.entries(templates)) {
      for (const edge of readTemplate(`templates.${name}`, template, problems)) {
        edges.set(`${edge.type} ${edge.from.length} ${edge.from}${edge.to}`, edge);
      }
    }
  }
  if (problems.length > 0) {
    throw new PmlError('config_invalid', `The templates cannot be used: ${problems.join('; ')}`, {
      hint: 'Each template is {description, type, edges: [[server:tool, server:tool], …]}.',
    });
  }
  return [...edges.values()];
}

function readTemplate(at: string, template: unknown, problems: string[]): TemplateEdge[] {
  if (!isJsonObject(template) || !Array.isArray(template.edges)) {
    problems.push(`${at} needs a list "edges"`);
    return [];
  }
  const { type = DEFAULTS.type, edges } = template;
  return edges.flatMap((edge: unknown, i) => readEdge(`${at}.edges[${i}]`, edge, type, problems) ?? []);
}

function readEdge(at: string, edge: unknown, given: unknown, problems: string[]): TemplateEdge | undefined {
  if (!Array.isArray(edge) || edge.length < 2 || edge.length > 3) {
    problems.push(`${at} must be [from, to] or [from, to, type]`);
    return undefined;
  }
  const [first, second, type = given] = edge as unknown[];
  if (!EDGE_TYPES.includes(type as EdgeType)) {
    problems.push(`${at} has type "${type}"; there are ${EDGE_TYPES.join(', ')}`);
    return undefined;
  }
  try {
    const [from, to] = [parseToolId(String(first)), parseToolId(String(second))];
    if (from !== to) return { from, to, type: type as EdgeType };
    problems.push(`${at} leads from ${from} to itself`);
  } catch (error) {
    problems.push(`${at}: ${PmlError.from(error).message}`);
  }
  return undefined;
}
