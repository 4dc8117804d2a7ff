// The minimum a Node program can do to follow the cluster name: it watches the ZeroTrustWorkloadIdentityManager and, when the name
// changes, sends the writes of the operator in the same order, with prepared bodies; responses are read but not parsed. On `load`
// with a file it reads the writes and the names that they contain.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type BareObject, bareWatch, endsSnapshot, watchListPath } from '../../../support/bare-watch.ts';
import { openSession } from '../../../support/connection.ts';
import { type RawRequest, sendRaw } from '../../../support/raw-request.ts';
import { readConnection, report, subjectInput, untilReleased } from '../../../support/subject.ts';

interface Cascade {
  readonly writes: readonly RawRequest[];
  /** The cluster names before and after the recorded change. */
  readonly before: string;
  readonly after: string;
}

const input = subjectInput();
const { writes, before, after } = JSON.parse(readFileSync(String(input.options.file), 'utf8')) as Cascade;
const watched = openSession(readConnection(input));
const session = openSession(readConnection(input));
session.on('error', fail);
watched.on('error', fail);
let current: string | undefined;

function fail(error: unknown): never {
  console.error(error);
  process.exit(1);
}

/** The hashes in templates are other ones after each change. */
function bodyFor(body: string, previous: string, next: string): string {
  return body
    .replaceAll(after, next)
    .replaceAll(before, previous)
    .replaceAll(/[0-9a-f]{64}/g, (hash) => createHash('sha256').update(next).update(hash).digest('hex'));
}

async function follow(previous: string, next: string): Promise<void> {
  for (const write of writes) await sendRaw(session, { ...write, body: bodyFor(write.body, previous, next) });
  report({ changed: next });
}

const path = `${watchListPath(String(input.options.collection))}&fieldSelector=metadata.name%3Dcluster`;
await new Promise<void>((resolve) => {
  const stream = bareWatch(watched, path, (event) => {
    if (endsSnapshot(event)) resolve();
    if (event.type === 'BOOKMARK') return;
    const { clusterName } = (event.object as BareObject & { readonly spec: { readonly clusterName: string } }).spec;
    const previous = current;
    current = clusterName;
    if (previous !== undefined && previous !== clusterName) follow(previous, clusterName).catch(fail);
  });
  stream.on('error', fail);
});
report({ ready: true });
await untilReleased();
process.exit(0);
