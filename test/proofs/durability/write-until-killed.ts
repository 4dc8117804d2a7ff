import { integerBelow, type Random } from '@bowline/machinery';
import type { Found, Ledger, State } from './ledger.ts';
import type { ServerProcess } from './server-process.ts';

const NAMESPACE = 'default';
const MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const LABELS = { proof: 'durability' };
const WRITERS = 8;
const NAMES_PER_WRITER = 15;
const MERGE_PATCH = 'application/merge-patch+json';

/** Written is the result of the writes of a round. */
export interface Written {
  readonly acknowledged: number;
  readonly violations: readonly string[];
}

/**
 * writeUntilKilled runs several concurrent writers until the given number of writes is acknowledged, and then kills the server.
 */
export async function writeUntilKilled(
  server: ServerProcess,
  ledger: Ledger,
  random: Random,
  goal: number,
  kill: () => Promise<void>,
): Promise<Written> {
  const violations: string[] = [];
  let acknowledged = 0;
  let isOver = false;
  let killed: Promise<void> | undefined;
  const writer = async (number: number): Promise<void> => {
    while (!isOver) {
      const name = `w${number}-${integerBelow(random, NAMES_PER_WRITER)}`;
      const violation = await writeOnce(server, ledger, random, name).catch(() => {
        // The server has exited or is exiting: what was sent stays unacknowledged.
        if (!killed) violations.push(`a request about ${name} failed although the server was not killed`);
        isOver = true;
        return undefined;
      });
      if (isOver) return;
      if (violation !== undefined) violations.push(violation);
      if (++acknowledged < goal || killed) continue;
      killed = kill().then(() => {
        isOver = true;
      });
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, number) => writer(number)));
  await killed;
  return { acknowledged, violations };
}

async function writeOnce(
  server: ServerProcess,
  ledger: Ledger,
  random: Random,
  name: string,
): Promise<string | undefined> {
  const before = ledger.stateOf(name);
  const content = contentFrom(random);
  const choice = random.next();
  const isDeletion = before !== undefined && choice < 0.15;
  ledger.sent(name, { content: isDeletion ? undefined : content });
  const { status, body } = await send(
    server,
    name,
    before,
    content,
    isDeletion ? 'delete' : choice < 0.4 ? 'patch' : 'update',
  );
  if (status >= 300) return `a write of ${name} was rejected with ${status}: ${body.message}`;
  return ledger.acknowledged(name, Number(body.metadata.resourceVersion ?? 0));
}

function send(
  server: ServerProcess,
  name: string,
  before: State | undefined,
  content: string,
  way: 'delete' | 'patch' | 'update',
): ReturnType<ServerProcess['call']> {
  const path = `${MAPS}/${name}`;
  const data = { content };
  if (!before) return server.call('POST', MAPS, { metadata: { name, labels: LABELS }, data });
  if (way === 'delete') return server.call('DELETE', path);
  if (way === 'patch') return server.call('PATCH', path, { data }, MERGE_PATCH);
  const metadata = { name, labels: LABELS, resourceVersion: String(before.version) };
  return server.call('PUT', path, { metadata, data });
}

/** Mostly small, sometimes larger than a page of a file. */
function contentFrom(random: Random): string {
  const size = random.next() < 0.05 ? integerBelow(random, 200_000) : integerBelow(random, 2_000);
  return `${integerBelow(random, 2 ** 31).toString(36)}-`.repeat(Math.ceil((size + 1) / 7)).slice(0, size + 1);
}

/** readAll returns the content of a server. */
export async function readAll(server: ServerProcess): Promise<Found> {
  const { status, body } = await server.call('GET', `${MAPS}?labelSelector=proof%3Ddurability`);
  if (status !== 200) throw new Error(`the objects cannot be listed: ${body.message}`);
  const items = body.items as readonly {
    readonly metadata: { readonly name: string; readonly resourceVersion: string };
    readonly data: { readonly content: string };
  }[];
  return {
    revision: Number(body.metadata.resourceVersion),
    objects: new Map(
      items.map(({ metadata, data }) => [
        metadata.name,
        { content: data.content, version: Number(metadata.resourceVersion) },
      ]),
    ),
  };
}
