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
import type { Said } from './normalise.ts';
import { Pair } from './pair.ts';
import { type Case, post } from './step.ts';

const MOST_VIOLATIONS = 100;
const MOST_SHOWN = 400;
/** What is left of the time when the last case begins. */
const SHARE_OF_CASES = 0.85;
/** How many generated cases share a namespace. */
const PER_NAMESPACE = 20;

/**
 * The differential proof: the same requests to a real control plane and to an embedded one get the same answers, but for what
 * is listed as known. Written cases always run; `--runs` counts those that are made up. `--attach FILE` asks a control plane
 * that runs already, as `attachmentOf` describes it.
 */
export const proof: Proof = {
  name: 'differential',
  summary: 'the same requests, written and made up, to a real API server and the embedded one: the same answers',
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
  const isOver = (): boolean => performance.now() - startedAt > seconds * 1_000 * SHARE_OF_CASES;
  await using real = await realControlPlane(flags.attach, log);
  await using ours = await startControlPlane({ kind: 'embedded', ...QUIET });
  await using pair = await Pair.connect(real.access, ours);
  // On a control plane that runs already, names must be new.
  const prefix = flags.attach === undefined ? 'case' : `case${Date.now().toString(36)}`;
  const violations: { seed: number; message: string }[] = [];
  const known = new Map(KNOWN.map(({ name }) => [name, 0]));
  let requests = 0;
  const compare = async (each: Case, namespace: string, own: string, at: number): Promise<void> => {
    for await (const { step, real: theirs, ours: mine } of pair.play(each, { namespace, own })) {
      requests++;
      let isOver = false;
      for (const difference of between(theirs, mine)) {
        const answers = { real: theirs, ours: mine };
        const reason = KNOWN.find(({ isOf }) => isOf({ ...difference, case: each.name, step, answers }));
        if (reason) {
          known.set(reason.name, (known.get(reason.name) ?? 0) + 1);
          isOver ||= difference.path === 'code' && reason.endsCase === true;
        } else {
          const shown = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, MOST_SHOWN);
          const what = `${each.name}: ${step.method} ${step.path} ${JSON.stringify(step.body ?? '').slice(0, 1_000)}`;
          violations.push({
            seed: at,
            message: `${what}\n    ${difference.path}\n    real ${shown(difference.real)}\n    ours ${shown(difference.ours)}`,
          });
        }
      }
      if (isOver) return;
    }
  };
  await pair.both(post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', WIDGETS));
  const written = cases.filter(({ name }) => name.includes(flags.only ?? ''));
  const namespaces = written.map((_, index) => `${prefix}-${index}`);
  const prepare = async (names: readonly string[]): Promise<void> => {
    for (const name of names) await pair.both(post('/api/v1/namespaces', { metadata: { name } }));
    for (const name of names) {
      await pair.until(`/api/v1/namespaces/${name}/serviceaccounts/default`);
      await pair.until(`/apis/proof.bowline.dev/v1/namespaces/${name}/widgets`);
    }
  };
  await prepare(namespaces);
  for (const [index, each] of written.entries())
    await compare(each, `${prefix}-${index}`, `${prefix}-own-${index}`, seed);
  log(`${written.length} written cases, ${requests} requests, ${violations.length} violations`);
  let generated = 0;
  const before = violations.length;
  while (generated < runs && !isOver() && violations.length - before < MOST_VIOLATIONS) {
    const at = seed + generated;
    const namespace = `${prefix}-g${Math.floor(generated / PER_NAMESPACE)}`;
    if (generated % PER_NAMESPACE === 0) await prepare([namespace]);
    await compare(generatedCase(seededRandom(at), at), namespace, `${prefix}-gen-${at}`, at);
    generated++;
    if (generated % 100 === 0)
      log(`${generated} of ${runs} generated cases, ${requests} requests, ${violations.length} violations`);
  }
  if (flags.only === undefined) {
    for (const [name, count] of known)
      if (count === 0) violations.push({ seed, message: `the known difference "${name}" is none any more: remove it` });
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

/** Answers with another status differ in that alone: what else they say follows from it. */
function between(real: Said, ours: Said): readonly Difference[] {
  return real.code === ours.code ? differences(real, ours) : [{ path: 'code', real, ours }];
}

/** Controllers would change objects between two questions. */
const QUIET = { scheduler: false, workloads: false, nodes: 0 } as const;

interface Reached extends AsyncDisposable {
  readonly access: ControlPlaneAccess;
}

async function realControlPlane(attach: string | undefined, onProgress: (line: string) => void): Promise<Reached> {
  if (attach !== undefined) {
    const { attachment } = JSON.parse(await readFile(attach, 'utf8')) as { readonly attachment: Attachment };
    return { access: await attachControlPlane(attachment), [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  const started = await startControlPlane({ kind: 'kubernetes', ...QUIET, onProgress });
  return { access: started, [Symbol.asyncDispose]: () => started.stop() };
}
