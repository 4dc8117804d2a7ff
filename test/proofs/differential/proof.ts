import { readFile } from 'node:fs/promises';
import {
  type Attachment,
  attachControlPlane,
  type ControlPlaneAccess,
  startControlPlane,
} from '@bowline/control-plane';
import { seededRandom } from '@bowline/machinery';
import type { Proof, ProofOptions, ProofResult } from '../../../scripts/proof.ts';
import { WIDGETS } from '../../support/sample-objects.ts';
import { cases } from './cases/cases.ts';
import { type Difference, differences } from './differences.ts';
import { generatedCase } from './generated-case.ts';
import { KNOWN } from './known.ts';
import type { NormalisedResponse } from './normalise.ts';
import { Pair } from './pair.ts';
import { type Case, post } from './step.ts';

const MAX_VIOLATIONS = 100;
const MAX_DISPLAYED = 400;
/** The fraction of the time after which no further case starts. */
const CASE_TIME_FRACTION = 0.85;
/** The number of generated cases per namespace. */
const PER_NAMESPACE = 20;

/**
 * The differential proof: the same requests to a real control plane and to an embedded one get the same responses, except for
 * known differences. Written cases always run; `--runs` counts generated cases. `--attach FILE` uses a running control plane, as
 * described by `attachmentOf`.
 */
export const proof: Proof = {
  name: 'differential',
  summary: 'the same written and generated requests to a real API server and the embedded one: the same responses',
  defaultRuns: 1_000,
  run,
};

async function run({
  runs,
  seed,
  seconds = Number.POSITIVE_INFINITY,
  flags = {},
  log,
}: ProofOptions): Promise<ProofResult> {
  const startedAt = performance.now();
  const isOver = (): boolean => performance.now() - startedAt > seconds * 1_000 * CASE_TIME_FRACTION;
  await using real = await realControlPlane(flags.attach, log, QUIET);
  await using ours = await startControlPlane({ kind: 'embedded', ...QUIET });
  await using quiet = await Pair.connect(real.access, ours);
  // On a running control plane, names must be new.
  const prefix = flags.attach === undefined ? 'case' : `case${Date.now().toString(36)}`;
  const violations: { seed: number; message: string }[] = [];
  const known = new Map(KNOWN.map(({ name }) => [name, 0]));
  let requests = 0;
  const compare = async (pair: Pair, each: Case, namespace: string, own: string, at: number): Promise<void> => {
    for await (const { step, real: theirs, ours: mine, isMissed } of pair.play(each, { namespace, own })) {
      requests++;
      let isOver = false;
      if (isMissed) {
        const message = `${each.name}: ${step.method} ${step.path} never had ${step.awaits?.join(' = ')} in both responses`;
        violations.push({ seed: at, message });
      }
      for (const difference of between(theirs, mine)) {
        const responses = { real: theirs, ours: mine };
        const reason = KNOWN.find(({ isOf }) => isOf({ ...difference, case: each.name, step, responses }));
        if (reason) {
          known.set(reason.name, (known.get(reason.name) ?? 0) + 1);
          isOver ||= difference.path === 'code' && reason.endsCase === true;
        } else {
          const displayed = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, MAX_DISPLAYED);
          const what = `${each.name}: ${step.method} ${step.path} ${JSON.stringify(step.body ?? '').slice(0, 1_000)}`;
          violations.push({
            seed: at,
            message: `${what}\n    ${difference.path}\n    real ${displayed(difference.real)}\n    ours ${displayed(difference.ours)}`,
          });
        }
      }
      if (isOver) return;
    }
  };
  await quiet.both(post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', WIDGETS));
  const written = cases.filter(({ name }) => name.includes(flags.only ?? ''));
  const prepare = async (pair: Pair, names: readonly string[]): Promise<void> => {
    for (const name of names) await pair.both(post('/api/v1/namespaces', { metadata: { name } }));
    for (const name of names) await pair.until(`/api/v1/namespaces/${name}/serviceaccounts/default`);
  };
  const playAll = async (pair: Pair, selected: readonly Case[]): Promise<void> => {
    const names = selected.map((each) => `${prefix}-${written.indexOf(each)}`);
    await prepare(pair, names);
    if (pair === quiet)
      for (const name of names) await pair.until(`/apis/proof.bowline.dev/v1/namespaces/${name}/widgets`);
    for (const each of selected) {
      const index = written.indexOf(each);
      await compare(pair, each, `${prefix}-${index}`, `${prefix}-own-${index}`, seed);
    }
  };
  await playAll(
    quiet,
    written.filter(({ hasControllers }) => !hasControllers),
  );
  const controlled = written.filter(({ hasControllers }) => hasControllers);
  if (controlled.length > 0) {
    await using busyReal = await realControlPlane(flags.attach, log, {});
    await using busyOurs = await startControlPlane({ kind: 'embedded' });
    await using busy = await Pair.connect(busyReal.access, busyOurs);
    await playAll(busy, controlled);
  }
  log(`${written.length} written cases, ${requests} requests, ${violations.length} violations`);
  let generated = 0;
  const before = violations.length;
  while (generated < runs && !isOver() && violations.length - before < MAX_VIOLATIONS) {
    const at = seed + generated;
    const namespace = `${prefix}-g${Math.floor(generated / PER_NAMESPACE)}`;
    if (generated % PER_NAMESPACE === 0) {
      await prepare(quiet, [namespace]);
      await quiet.until(`/apis/proof.bowline.dev/v1/namespaces/${namespace}/widgets`);
    }
    await compare(quiet, generatedCase(seededRandom(at), at), namespace, `${prefix}-gen-${at}`, at);
    generated++;
    if (generated % 100 === 0)
      log(`${generated} of ${runs} generated cases, ${requests} requests, ${violations.length} violations`);
  }
  if (flags.only === undefined) {
    for (const [name, count] of known)
      if (count === 0) violations.push({ seed, message: `the known difference "${name}" no longer occurs: remove it` });
  }
  const knownDifferences = KNOWN.map(({ name, reason }) => ({ name, reason, found: known.get(name) ?? 0 }));
  return {
    name: proof.name,
    runs: written.length + generated,
    seed,
    violations,
    facts: {
      writtenCases: written.length,
      generatedCases: generated,
      requests,
      knownDifferences,
      server: real.access.version,
    },
  };
}

/** Responses with different statuses differ only in that: the rest follows from it. */
function between(real: NormalisedResponse, ours: NormalisedResponse): readonly Difference[] {
  return real.code === ours.code ? differences(real, ours) : [{ path: 'code', real, ours }];
}

/** Controllers would change objects between two requests. */
const QUIET = { scheduler: false, workloads: false, nodes: 0 } as const;

interface Reached extends AsyncDisposable {
  readonly access: ControlPlaneAccess;
}

async function realControlPlane(
  attach: string | undefined,
  onProgress: (line: string) => void,
  parts: Partial<typeof QUIET>,
): Promise<Reached> {
  if (attach !== undefined) {
    const { attachment } = JSON.parse(await readFile(attach, 'utf8')) as { readonly attachment: Attachment };
    return { access: await attachControlPlane(attachment), [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  const started = await startControlPlane({ kind: 'kubernetes', ...parts, onProgress });
  return { access: started, [Symbol.asyncDispose]: () => started.stop() };
}
