import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Traces } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { getJson } from '../../api.ts';
import { Icon } from '../../components/badge.tsx';
import { Code } from '../../components/code.tsx';
import { Panel } from '../../components/page-layout.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { plural, shownLine } from '../../format.ts';
import { useCapabilities, useServers, useStats } from '../../overview.ts';
import { type Resource, useResource } from '../../resource.ts';

const ENTRY = '"pml": { "command": "pml", "args": ["stdio"] }';
const mcpServers = `{\n  "mcpServers": {\n    ${ENTRY}\n  }\n}`;

/** A client, and what it takes to put PML in front of it. */
interface ClientForm {
  readonly name: string;
  readonly title: string;
  /** Without it, the client is connected by hand. */
  readonly init?: string;
  readonly file?: string;
  readonly language: 'json' | 'text';
  readonly entry: string;
}

const CLIENTS = [
  {
    name: 'claude',
    title: 'Claude Code',
    init: 'pml init --from claude',
    language: 'text',
    entry: 'claude mcp add pml -- pml stdio',
  },
  {
    name: 'cursor',
    title: 'Cursor',
    init: 'pml init --from cursor',
    file: '~/.cursor/mcp.json',
    language: 'json',
    entry: mcpServers,
  },
  {
    name: 'vscode',
    title: 'VS Code',
    init: 'pml init --from vscode',
    file: '.vscode/mcp.json',
    language: 'json',
    entry: `{\n  "servers": {\n    ${ENTRY}\n  }\n}`,
  },
  {
    name: 'codex',
    title: 'Codex',
    init: 'pml init --from codex',
    file: '~/.codex/config.toml',
    language: 'text',
    entry: '[mcp_servers.pml]\ncommand = "pml"\nargs = ["stdio"]',
  },
  {
    name: 'gemini',
    title: 'Gemini CLI',
    init: 'pml init --from gemini',
    file: '~/.gemini/settings.json',
    language: 'json',
    entry: mcpServers,
  },
  { name: 'any', title: 'Any MCP client', language: 'json', entry: mcpServers },
] as const satisfies readonly ClientForm[];

/** What a newcomer does, in order; a step that is done says so. */
export function FirstSteps() {
  const servers = useServers().state.value.data?.servers.length ?? 0;
  const runs = useStats().state.value.data?.traces ?? 0;
  return (
    <Panel title="Three steps" actions={<a href="/docs/start">Start in two minutes</a>}>
      <ol class="steps">
        <Step title="Attach your servers" done={servers > 0 && `${plural(servers, 'server')} attached`}>
          <p>Import the servers of your clients. PML shows every change first and can undo it.</p>
          <Code label="Command" language="text" text="pml init" />
        </Step>
        <Step title="Connect your client">
          <ClientForms />
        </Step>
        <Step title="Ask it to do something" done={runs > 0 && `${plural(runs, 'run')} so far`}>
          <p>Your agent finds tools by what they do. Say, for example:</p>
          <Code
            label="Prompt"
            language="text"
            text="Use PML: read all my notes and write one summary of them."
          />
        </Step>
      </ol>
    </Panel>
  );
}

function Step({
  title,
  done = false,
  children,
}: {
  title: string;
  done?: string | false;
  children: ComponentChildren;
}) {
  return (
    <li class={done === false ? 'step' : 'step step-done'}>
      <h3>
        {title}
        {done !== false && (
          <span class="step-note">
            <Icon name="check" size={14} /> {done}
          </span>
        )}
      </h3>
      <div class="connect">{children}</div>
    </li>
  );
}

export function ConnectClient() {
  return (
    <Panel title="Connect a client">
      <ClientForms />
    </Panel>
  );
}

/** Each client's own form, ready to paste. */
function ClientForms() {
  const [current, setCurrent] = useState<(typeof CLIENTS)[number]['name']>('claude');
  const form: ClientForm = CLIENTS.find(({ name }) => name === current)!;
  return (
    <Tabs label="Clients" tabs={CLIENTS} current={current} onChange={setCurrent}>
      <div class="connect">
        <p>
          {form.file === undefined ? 'Add PML:' : 'Add PML to '}
          {form.file !== undefined && (
            <>
              <code>{form.file}</code>:
            </>
          )}
        </p>
        <Code label={`${form.title}: entry`} language={form.language} text={form.entry} />
        {form.init === undefined ? (
          <>
            <p>
              Clients that connect over HTTP use this address, with a key from{' '}
              <code>pml keys create NAME --role agent</code> as the bearer token:
            </p>
            <Code label="Address" language="text" text={`${location.origin}/mcp`} />
          </>
        ) : (
          <>
            <p>Or let PML write the file and move its servers behind PML:</p>
            <Code label={`${form.title}: command`} language="text" text={form.init} />
          </>
        )}
      </div>
    </Tabs>
  );
}

const STORY = {
  routine: 'summarise_notes',
  asked: 'summarise',
  otherWords: 'make one summary out of all my notes',
};

/** The runs that the demo made; elsewhere none. */
export function useDemo(): Resource<Traces> {
  return useResource<Traces>('demo', {
    load: (signal) => getJson('/traces', { session: 'demo', limit: 100 }, signal),
    reloadOn: ({ type }) => type === 'run_finished',
  });
}

/** What the demo did and what came of it, told with its own runs; nothing on any other gateway. */
export function DemoStory() {
  const demo = useDemo().state.value.data?.traces;
  const routine = useCapabilities().state.value.data?.capabilities.find(({ slug }) => slug === STORY.routine);
  const asked = demo?.filter(
    ({ intent_text }) => intent_text?.includes(STORY.asked) && intent_text !== STORY.otherWords,
  );
  const recognised = demo?.find(({ intent_text }) => intent_text === STORY.otherWords);
  if (!asked || asked.length === 0) return null;
  return (
    <Panel title="What the demo shows" actions={<a href="/docs/concepts">How it works</a>}>
      <ol class="story">
        <li>
          The same job was asked for in {plural(asked.length, 'wording')}:
          <ul>
            {asked.map(({ id, intent_text }) => (
              <li key={id}>
                <a href={href.run(id)}>“{shownLine(intent_text ?? '', 80)}”</a>
              </li>
            ))}
          </ul>
        </li>
        <li>
          {routine ? (
            <>
              PML turned the program behind it into a capability:{' '}
              <a href={href.capability(routine.slug)}>{routine.slug}</a>.
            </>
          ) : (
            'PML is turning the program behind it into a capability…'
          )}
        </li>
        <li>
          {recognised ? (
            <>
              Then somebody asked in different words,{' '}
              <a href={href.run(recognised.id)}>“{STORY.otherWords}”</a>, and PML knew what to do.
            </>
          ) : (
            'Next, somebody will ask for it in different words…'
          )}
        </li>
        <li>
          Your turn: ask in words of your own under <strong>Plan a job</strong>, or look at the{' '}
          <a href={href.graph()}>graph</a> of what was learned.
        </li>
      </ol>
    </Panel>
  );
}
