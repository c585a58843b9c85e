import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Connections, CreatedKey, Key, Keys } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { ApiError, getJson, postJson } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { Button, CopyButton } from '../../components/button.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Choice, clearFilters, filtersIn, SearchFilter } from '../../components/filters.tsx';
import { PageHead } from '../../components/page-layout.tsx';
import { SchemaForm } from '../../components/schema-form/schema-form.tsx';
import { Await, EmptyState, ErrorState, Skeleton } from '../../components/states.tsx';
import { Ago, Time } from '../../components/time.tsx';
import { tellingOutcome, toast } from '../../components/toast.tsx';
import { number, plural, shownLine } from '../../format.ts';
import { useResource } from '../../resource.ts';
import { refusal, who } from '../../who.ts';
import { inWords, KEY_FIELDS, type Limit, ROLES, schemaFor, scopeOf, usedOf } from './scope-fields.ts';
import './keys.css';

const DEFAULTS = {
  /** Share of a limit from which it is marked. */
  nearlyUsed: 0.8,
};

const WINDOWS = { minute: 'this minute', hour: 'this hour', day: 'today' } satisfies Record<
  Limit['per'],
  string
>;

const FILTERS = ['q', 'role', 'state'] as const;

type KeyFilters = Readonly<Partial<Record<(typeof FILTERS)[number], string>>>;

/** What is open above the list. */
type Asked = { readonly to: 'create' } | { readonly to: 'scope' | 'revoke'; readonly key: Key };

/** Another number per opening: a close event may arrive after the next dialog has opened. */
type Opened = Asked & { readonly opening: number };

/** Who may come in besides the owner, with what and how much of it. */
export default function KeysPage() {
  const [asked, setAsked] = useState<Opened | null>(null);
  const ask = (what: Asked) =>
    setAsked((now) => ({ ...what, opening: (now?.opening ?? performance.now()) + 1 }));
  const close = () => setAsked((now) => (now?.opening === asked?.opening ? null : now));
  const refused = refusal('keys');
  return (
    <>
      <PageHead
        title="Keys"
        lead="Every other agent and person connects with a key. Its role sets what it may do; its scope sets which tools it may use, and how much."
        actions={
          <Button kind="primary" icon="keys" needs="keys" onClick={() => ask({ to: 'create' })}>
            Create a key
          </Button>
        }
      />
      {who.value === undefined ? (
        <Skeleton lines={6} />
      ) : refused ? (
        <EmptyState icon="info" title={refused}>
          Only the owner of the data folder does, with <code>pml keys</code> or after <code>pml login</code>.
        </EmptyState>
      ) : (
        <KeyList onAsk={ask} />
      )}
      {asked?.to === 'create' && <CreateDialog key={asked.opening} onClose={close} />}
      {asked?.to === 'scope' && <ScopeDialog key={asked.opening} of={asked.key} onClose={close} />}
      {asked?.to === 'revoke' && <RevokeDialog key={asked.opening} of={asked.key} onClose={close} />}
    </>
  );
}

function KeyList({ onAsk }: { onAsk: (asked: Asked) => void }) {
  const filters = filtersIn(FILTERS);
  const keys = useResource<Keys>('keys', {
    load: (signal) => postJson('/operations/list_keys', { revoked: true }, signal),
    // What runs uses up limits.
    reloadOn: ({ type }) => type === 'key_changed' || type === 'run_finished',
  });
  const connections = useResource<Connections>('connections', {
    load: (signal) => getJson('/connections', {}, signal),
    reloadOn: ({ type }) => type === 'key_changed',
  });
  const clients = connections.state.value.data?.connections ?? [];
  return (
    <div class="stack">
      <search class="filters" aria-label="Filter keys">
        <SearchFilter label="Search names and users" value={filters.q} />
        <Choice
          name="role"
          label="Role"
          value={filters.role}
          options={[['', 'Any role'], ...ROLES.map((role) => [role, role] as const)]}
        />
        <Choice
          name="state"
          label="State"
          value={filters.state}
          options={[
            ['', 'In use'],
            ['revoked', 'Revoked'],
          ]}
        />
      </search>
      <section class="panel keys-list" aria-label="Keys">
        <Await of={keys.state.value} retry={keys.reload} lines={8}>
          {(data) => {
            const rows = data.keys.filter((key) => isShown(key, filters));
            if (rows.length === 0) return <NoKeys isFiltered={Object.keys(filters).length > 0} />;
            return (
              <DataTable
                label="Keys"
                rows={rows}
                keyOf={({ id }) => id}
                view={JSON.stringify(filters)}
                columns={columnsOf({ clients, onAsk })}
              />
            );
          }}
        </Await>
      </section>
    </div>
  );
}

function isShown({ name, user, role, revoked_at }: Key, filters: KeyFilters): boolean {
  const text = `${name} ${user}`.toLowerCase();
  return (
    (filters.state === 'revoked') === (revoked_at !== null) &&
    (filters.role === undefined || filters.role === role) &&
    text.includes((filters.q ?? '').toLowerCase())
  );
}

function NoKeys({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <EmptyState icon="search" title="No matching keys">
        <Button onClick={() => clearFilters(FILTERS)}>Show all in use</Button>
      </EmptyState>
    );
  }
  return (
    <EmptyState icon="keys" title="No keys yet">
      Give every agent a key of its own: with one it cannot approve its own calls.
    </EmptyState>
  );
}

function columnsOf({
  clients,
  onAsk,
}: {
  clients: Connections['connections'];
  onAsk: (asked: Asked) => void;
}): readonly Column<Key>[] {
  return [
    {
      title: 'Key',
      cell: ({ id, name, user, role }) => (
        <>
          <span class="strong keys-name">{shownLine(name, 64)}</span>
          <span class="cell-note">
            <Badge tone={role === 'operator' ? 'accent' : 'neutral'}>{role}</Badge>
          </span>
          {user !== name && <span class="cell-note muted">of {shownLine(user, 64)}</span>}
          <Clients of={clients.filter(({ key_id }) => key_id === id)} />
        </>
      ),
    },
    {
      title: 'May use',
      cell: (key) => (
        <div class="keys-scope">
          {inWords(key.scope).map((line) => (
            <span key={line}>{line}</span>
          ))}
          {key.scope?.limits.map((limit) => (
            <Meter key={`${limit.unit} ${limit.per}`} limit={limit} used={usedOf(key, limit)} />
          ))}
        </div>
      ),
    },
    {
      title: 'Last used',
      isExtra: true,
      cell: ({ user, last_used_at }) => (
        <a class="keys-whole" href={href.calls({ user })} title={`Calls of ${shownLine(user, 64)}`}>
          {last_used_at ? <Ago at={last_used_at} /> : 'never'}
        </a>
      ),
    },
    {
      title: 'Created',
      isExtra: true,
      cell: ({ created_at, created_by, revoked_at, revoked_by }) => (
        <>
          <span class="keys-whole">
            <Time at={created_at} />
          </span>
          <span class="cell-note muted">by {shownLine(created_by, 40)}</span>
          {revoked_at !== null && (
            <span class="cell-note bad">
              revoked <Time at={revoked_at} /> by {shownLine(revoked_by ?? '', 40)}
            </span>
          )}
        </>
      ),
    },
    {
      title: 'Change',
      cell: (key) =>
        key.revoked_at === null ? (
          <div class="keys-actions">
            <Button
              needs="keys"
              aria-label={`Change the scope of ${shownLine(key.name, 64)}`}
              onClick={() => onAsk({ to: 'scope', key })}
            >
              Scope
            </Button>
            <Button
              kind="quiet"
              needs="keys"
              aria-label={`Revoke ${shownLine(key.name, 64)}`}
              onClick={() => onAsk({ to: 'revoke', key })}
            >
              Revoke
            </Button>
          </div>
        ) : (
          <Badge tone="bad" icon="cross">
            revoked
          </Badge>
        ),
    },
  ];
}

/** The OAuth clients that act with a key. */
function Clients({ of }: { of: Connections['connections'] }) {
  if (of.length === 0) return null;
  const names = of.map(({ client_name }) => shownLine(client_name, 40)).join(', ');
  return (
    <span class="cell-note muted">
      {plural(of.length, 'client')}: {names}
    </span>
  );
}

/** What was used of a limit, in words and as a bar. */
function Meter({ limit, used }: { limit: Limit; used: number }) {
  const { unit, per, most } = limit;
  const isFull = used >= most;
  return (
    <span class="keys-limit">
      <span>
        {number(Math.round(used))} of {number(most)} {unit} {WINDOWS[per]}
        {isFull && <strong class="bad"> used up</strong>}
      </span>
      <meter
        class={isFull ? 'keys-full' : undefined}
        aria-label={`${unit} used ${WINDOWS[per]}`}
        max={most}
        high={most * DEFAULTS.nearlyUsed}
        optimum={0}
        value={Math.min(used, most)}
      />
    </span>
  );
}

/** Closes the dialog around an element, after which the focus is where it was before. */
function closeAround(element: Element | null): void {
  element?.closest('dialog')?.close();
}

/** Asks for a new key; then another dialog shows its secret, once. */
function CreateDialog({ onClose }: { onClose: () => void }) {
  const [made, setMade] = useState<CreatedKey | null>(null);
  const end = () => {
    onClose();
    // This is the second dialog: the browser knows only what had the focus in the first.
    document.querySelector<HTMLElement>('.page-actions button')?.focus();
  };
  if (made) return <SecretDialog of={made} onClose={end} />;
  return (
    <FormDialog
      title="Create a key"
      lead="Without rules it may use everything that its role allows."
      schema={KEY_FIELDS}
      submit="Create"
      onClose={onClose}
      onSubmit={async ({ name, role, user, ...rules }) => {
        const scope = scopeOf(null, rules);
        const order = { name, role, user, ...(scope && { scope }) };
        setMade(await postJson<CreatedKey>('/operations/create_key', order));
      }}
    />
  );
}

function SecretDialog({ of: { name, key }, onClose }: { of: CreatedKey; onClose: () => void }) {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => ref.current?.querySelector('button')?.focus(), []);
  return (
    <Dialog
      title={`The key ${shownLine(name, 64)}`}
      onClose={onClose}
      actions={
        <Button kind="primary" onClick={(event) => closeAround(event.currentTarget)}>
          Done
        </Button>
      }
    >
      <div class="stack">
        <div class="command" ref={ref}>
          <code class="keys-secret">{key}</code>
          <CopyButton text={key} label="Copy the key" />
        </div>
        <p>
          <strong>This is the only time the key is shown</strong>: PML keeps only a hash of it. Send it as{' '}
          <code>Authorization: Bearer KEY</code>.
        </p>
      </div>
    </Dialog>
  );
}

function ScopeDialog({ of: key, onClose }: { of: Key; onClose: () => void }) {
  const ref = useRef<HTMLDivElement>(null);
  const name = shownLine(key.name, 64);
  const schema = useMemo(() => schemaFor(key.scope), [key]);
  return (
    <div ref={ref}>
      <FormDialog
        title={`What ${name} may use`}
        lead="Applies from the next request, even in open sessions. Without rules, it may use everything that its role allows."
        schema={schema}
        submit="Save"
        onClose={onClose}
        onSubmit={async (rules) => {
          await postJson('/operations/set_key_scope', { name: key.id, scope: scopeOf(key.scope, rules) });
          toast(`The scope of ${name} was changed`);
          ref.current?.querySelector('dialog')?.close();
        }}
      />
    </div>
  );
}

/** A dialog with a form that stays, and says why, when the gateway refuses. */
function FormDialog({
  title,
  lead,
  schema,
  submit,
  onClose,
  onSubmit,
}: {
  title: string;
  lead: string;
  schema: object;
  submit: string;
  onClose: () => void;
  onSubmit: (values: Readonly<Record<string, unknown>>) => Promise<void>;
}) {
  const ref = useRef<HTMLDivElement>(null);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  useLayoutEffect(() => ref.current?.querySelector<HTMLElement>('input, button')?.focus(), []);
  const send = async (values: Readonly<Record<string, unknown>>) => {
    setBusy(true);
    setError(null);
    await onSubmit(values).catch((thrown: unknown) => setError(ApiError.from(thrown)));
    setBusy(false);
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="stack" ref={ref}>
        <p class="muted">{lead}</p>
        <SchemaForm
          schema={schema}
          submit={submit}
          needs="keys"
          icon="check"
          isBusy={isBusy}
          onSubmit={(values) => void send(values)}
        />
        {error && <ErrorState error={error} />}
      </div>
    </Dialog>
  );
}

function RevokeDialog({ of: key, onClose }: { of: Key; onClose: () => void }) {
  const name = shownLine(key.name, 64);
  const revoke = async (button: Element) => {
    const work = postJson('/operations/revoke_key', { name: key.id });
    if (!(await tellingOutcome(work, `${name} was revoked`))) return;
    closeAround(button);
    // Its row goes, and the button that had the focus with it.
    document.querySelector<HTMLElement>('main h1')?.focus();
  };
  return (
    <Dialog
      title={`Revoke ${name}?`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={(event) => closeAround(event.currentTarget)}>Keep it</Button>
          <Button kind="danger" needs="keys" onClick={(event) => void revoke(event.currentTarget)}>
            Revoke it
          </Button>
        </>
      }
    >
      <p>
        Requests with this key are refused from now on. Its open streams, browser logins and connected clients
        end. This cannot be undone.
      </p>
    </Dialog>
  );
}
