import { useState } from 'preact/hooks';
import { Code } from '../../components/code.tsx';
import { Panel } from '../../components/panel.tsx';
import { Tabs } from '../../components/tabs.tsx';

const STDIO = '{\n  "mcpServers": {\n    "pml": { "command": "pml", "args": ["stdio"] }\n  }\n}';

const TABS = [
  { name: 'claude', title: 'Claude Code' },
  { name: 'cursor', title: 'Cursor' },
  { name: 'any', title: 'Any MCP client' },
] as const;

/** Three ways to put the gateway in front of an agent, ready to be pasted. */
export function ConnectClient() {
  const [current, setCurrent] = useState<(typeof TABS)[number]['name']>('claude');
  return (
    <Panel title="Connect a client">
      <Tabs label="Clients" tabs={TABS} current={current} onChange={setCurrent}>
        <div class="connect">
          {current === 'claude' && (
            <>
              <p>Add the gateway beside your servers:</p>
              <Code label="Command" language="text" text="claude mcp add pml -- pml stdio" />
              <p>Or put it in their place; PML takes them over, shows every change first, and can undo it:</p>
              <Code label="Command" language="text" text="pml init --from claude" />
            </>
          )}
          {current === 'cursor' && (
            <>
              <p>
                Into <code>~/.cursor/mcp.json</code>:
              </p>
              <Code label="Configuration" language="json" text={STDIO} />
              <p>Or let PML write it, and take the servers over that stand there:</p>
              <Code label="Command" language="text" text="pml init --from cursor" />
            </>
          )}
          {current === 'any' && (
            <>
              <p>A program that starts its servers:</p>
              <Code label="Command" language="text" text="pml stdio" />
              <p>
                One that connects over HTTP, with the token in the data folder (or a key of{' '}
                <code>pml keys create</code>) as bearer:
              </p>
              <Code label="Address" language="text" text={`${location.origin}/mcp`} />
            </>
          )}
        </div>
      </Tabs>
    </Panel>
  );
}
