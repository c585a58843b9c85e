import type { Client } from '@modelcontextprotocol/client';
import { f1 } from '../../src/evaluation/plan-quality.ts';
import { callTool } from './mcp-endpoints.ts';

/** A request and its correct tools: often none. */
export interface Question {
  readonly intent: string;
  readonly tools: readonly string[];
}

export interface AskedPlan extends Question {
  /** Tools and capabilities of the plan's tasks. */
  readonly does: readonly string[];
  readonly confidence: number;
  readonly isWrong: boolean;
  /** `suggestion` if nothing was run. */
  readonly status: string;
}

interface IntentAnswer {
  readonly status: string;
  readonly confidence: number;
  readonly plan: {
    readonly tasks: readonly { readonly tool?: string; readonly capability?: string }[];
    readonly inputs: readonly { readonly name: string }[];
  };
}

/** Reciprocal rank of the first correct tool for each question, among the best fifty; 0 if there is none. */
export async function reciprocalRanks(client: Client, questions: readonly Question[]): Promise<number[]> {
  const reciprocals: number[] = [];
  for (const { intent, tools } of questions) {
    const { structuredContent } = await callTool(client, 'pml_search_tools', { query: intent, limit: 50 });
    const found = structuredContent.tools as readonly { tool_id: string }[];
    const first = found.findIndex(({ tool_id: id }) => tools.includes(id));
    reciprocals.push(first === -1 ? 0 : 1 / (first + 1));
  }
  return reciprocals;
}

/** Sends only the intent and, if the plan has inputs, their values, so that the plan runs if it may. */
export async function askFor(
  client: Client,
  question: Question,
  valueFor: (input: string) => string,
): Promise<AskedPlan> {
  const ask = async (values?: Readonly<Record<string, string>>) => {
    const args = { intent: question.intent, ...(values && { arguments: values }) };
    const { structuredContent } = await callTool(client, 'pml_execute', args);
    return structuredContent as unknown as IntentAnswer;
  };
  const first = await ask();
  const { inputs } = first.plan;
  const values = Object.fromEntries(inputs.map(({ name }) => [name, valueFor(name)]));
  const { plan, confidence, status } =
    first.status === 'suggestion' && inputs.length > 0 ? await ask(values) : first;
  const does = plan.tasks.map(({ tool, capability }) => tool ?? capability ?? 'code');
  const isWrong = f1(new Set(does), new Set(question.tools)) < 0.5;
  return { ...question, does, confidence, isWrong, status };
}
