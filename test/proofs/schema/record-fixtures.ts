// node --conditions=@bowline/source --import tsx test/proofs/schema/record-fixtures.ts
// Sends the cases of packages/machinery/src/schema/fixtures to a real API server and records its responses.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectClient, startControlPlane } from '@bowline/control-plane';
import type { Client } from '@bowline/runtime/client';
import { type FixtureCase, fixtureCases } from '../../../packages/machinery/src/schema/fixtures/cases.ts';
import { ruleCases } from '../../../packages/machinery/src/schema/fixtures/rule-cases.ts';
import { repositoryRoot } from '../../../scripts/repository.ts';
import { changeKind, createKind, probeKind, probeObject, tryCreate, tryUpdate } from './oracle.ts';
import { recordExpressions } from './record-expressions.ts';

const CONCURRENCY = 8;

/** Recorded is a case with the API server's response: no causes if it accepted, and then what it would have stored. */
interface Recorded extends FixtureCase {
  readonly causes: readonly { field: string; reason: string; message: string }[];
  readonly stored?: unknown;
}

async function record(client: Client, fixture: FixtureCase, index: number): Promise<Recorded> {
  const probe = probeKind(`fixture${index}x`);
  const root = (value: object): object => {
    return { type: 'object', properties: { spec: { type: 'object', properties: { value } } } };
  };
  const object = probeObject(probe, { spec: { value: fixture.value } });
  const isUpdate = 'old' in fixture;
  const first = isUpdate ? { 'x-kubernetes-preserve-unknown-fields': true } : fixture.schema;
  const installed = await createKind(client, probe, root(first));
  if (installed.status !== 200) throw new Error(`${fixture.name}: ${installed.message}`);
  if (!isUpdate) {
    const verdict = await tryCreate(client, probe, object);
    return toRecorded(fixture, verdict);
  }
  const stored = await tryCreate(client, probe, probeObject(probe, { spec: { value: fixture.old } }), false);
  if (stored.status !== 200) throw new Error(`${fixture.name}: ${stored.message}`);
  const changed = await changeKind(client, probe, root(fixture.schema));
  if (changed.status !== 200) throw new Error(`${fixture.name}: ${changed.message}`);
  await changedSchemaIsServed(client, probe);
  return toRecorded(fixture, await tryUpdate(client, probe, object));
}

/** A changed schema applies a moment after the CRD was written: when another kind, created after it, is served. */
async function changedSchemaIsServed(client: Client, probe: ReturnType<typeof probeKind>): Promise<void> {
  const witness = probeKind(`${probe.resource.kind.toLowerCase()}w`);
  await createKind(client, witness, { type: 'object' });
  await tryCreate(client, witness, probeObject(witness, {}));
  await new Promise((resolve) => setTimeout(resolve, 1000));
}

function toRecorded(fixture: FixtureCase, verdict: Awaited<ReturnType<typeof tryCreate>>): Recorded {
  if (![200, 422].includes(verdict.status)) throw new Error(`${fixture.name}: ${verdict.message}`);
  const stored = (verdict.object as { spec?: { value?: unknown } } | undefined)?.spec?.value;
  return { ...fixture, causes: verdict.causes, ...(stored === undefined ? {} : { stored }) };
}

await using controlPlane = await startControlPlane({
  kind: 'kubernetes',
  scheduler: false,
  workloads: false,
  nodes: 0,
});
await using client = await connectClient(await controlPlane.kubeconfig('admin'));
const cases = [...fixtureCases, ...ruleCases];
const recorded: Recorded[] = [];
let next = 0;
await Promise.all(
  Array.from({ length: CONCURRENCY }, async () => {
    for (let index = next++; index < cases.length; index = next++) {
      const fixture = cases[index];
      if (fixture !== undefined) recorded[index] = await record(client, fixture, index);
    }
  }),
);
const expressions = await recordExpressions(client);
const file = join(repositoryRoot, 'packages/machinery/src/schema/fixtures/answers.json');
const header = { server: controlPlane.version, recordedBy: 'test/proofs/schema/record-fixtures.ts' };
writeFileSync(file, `${JSON.stringify({ ...header, answers: recorded, expressions }, null, 1)}\n`);
console.log(`${recorded.length} responses of ${controlPlane.version}`);
