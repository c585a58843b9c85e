import { useState } from 'preact/hooks';
import type { Execution } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { ApiError, postJson } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { EmbeddedNews } from '../../components/embedded-news.tsx';
import { Panel } from '../../components/page-layout.tsx';
import { Outcome } from '../../components/states.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { useServers } from '../../overview.ts';
import { navigate } from '../../router.ts';

/** A first program for a server that many have; it changes nothing. */
const SAMPLES: Readonly<Record<string, string>> = {
  filesystem: 'return await mcp.filesystem.list_allowed_directories({});',
  memory: 'return await mcp.memory.read_graph({});',
  everything: 'return await mcp.everything.echo({ message: "hello" });',
};
const PLAIN_SAMPLE = 'return [3, 1, 2].toSorted();';

const TABS = [
  { name: 'search', title: 'Find a tool' },
  { name: 'code', title: 'Run code' },
] as const;

/** What an agent does, by hand: search, and run a program that calls tools. */
export function TryIt() {
  const [current, setCurrent] = useState<(typeof TABS)[number]['name']>('search');
  return (
    <Panel title="Try it">
      <Tabs label="What to try" tabs={TABS} current={current} onChange={setCurrent}>
        {current === 'search' ? <TrySearch /> : <TryCode />}
      </Tabs>
    </Panel>
  );
}

function TrySearch() {
  const [text, setText] = useState('');
  return (
    <form
      class="try"
      onSubmit={(event) => {
        event.preventDefault();
        navigate(href.search(text));
      }}
    >
      <label for="try-search">Say what you want to do</label>
      <div class="try-line">
        <input
          id="try-search"
          type="search"
          data-search
          placeholder="read a text file"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <Button type="submit" kind="primary" icon="search">
          Search
        </Button>
      </div>
      <EmbeddedNews />
    </form>
  );
}

function TryCode() {
  const names = useServers().state.value.data?.servers.map(({ name }) => name) ?? [];
  const sample = names.map((name) => SAMPLES[name]).find(Boolean) ?? PLAIN_SAMPLE;
  const [code, setCode] = useState<string | null>(null);
  const [isRunning, setRunning] = useState(false);
  const [outcome, setOutcome] = useState<Execution | ApiError | null>(null);
  const run = async () => {
    setRunning(true);
    setOutcome(await postJson<Execution>('/execute', { code: code ?? sample }).catch(ApiError.from));
    setRunning(false);
  };
  return (
    <form
      class="try"
      onSubmit={(event) => {
        event.preventDefault();
        void run();
      }}
    >
      <label for="try-code">A program that calls tools</label>
      <textarea
        id="try-code"
        rows={4}
        spellcheck={false}
        value={code ?? sample}
        onInput={(event) => setCode(event.currentTarget.value)}
      />
      <div class="row">
        <Button needs="run" type="submit" kind="primary" icon="play" disabled={isRunning}>
          {isRunning ? 'Running…' : 'Run'}
        </Button>
      </div>
      <div aria-live="polite">{outcome && <Outcome of={outcome} />}</div>
    </form>
  );
}
