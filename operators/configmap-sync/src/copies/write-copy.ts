import { ConfigMap } from '@bowline/kubernetes';
import { BowlineError, isAlreadyExists, isConflict, isNotFound } from '@bowline/runtime';
import { contentOf } from '../content/content.ts';
import type { Target } from '../targets/resolve-targets.ts';
import { saveContent } from './backup.ts';
import { keptMetadata } from './copy-bodies.ts';
import { type CopyTools, createCopy, patchCopy, untouched } from './copy-requests.ts';
import type { CopyResult, Deed } from './copy-result.ts';
import { type CopyView, viewOf } from './copy-view.ts';
import type { Applied, DesiredCopy } from './desired-copy.ts';
import { managedKeysOf } from './managed-keys.ts';
import { losesSomething, type Merged, mergeContent } from './merge-content.ts';
import { type CopyPlan, type CopyRules, planCopy } from './plan-copy.ts';

/** Wish is what is wanted of all copies of one ConfigMapSync. */
export interface Wish {
  readonly desired: DesiredCopy;
  readonly rules: CopyRules;
}

/** Seen is a copy as the cache, or the API server, has it. */
interface Seen {
  readonly view: CopyView | undefined;
  /** Undefined when only the cache was asked, or there is none. */
  readonly live?: ConfigMap | undefined;
}

/** How often a write starts anew because the copy changed meanwhile, or its content is needed. After that the queue decides. */
const MOST_ATTEMPTS = 5;

/**
 * writeCopy makes one copy what it should be. What the cache knows is enough for most: one request. Whenever the copy is not
 * what was thought, the API server is asked and everything decided anew.
 */
export async function writeCopy(tools: CopyTools, target: Target, wish: Wish): Promise<CopyResult> {
  const { namespace, name } = target;
  let seen: Seen = { view: tools.find(target) };
  for (let attempt = 1; ; attempt++) {
    const plan = planCopy(seen.view, wish.desired, wish.rules);
    try {
      const result = await carryOut(tools, target, wish, plan, seen);
      if (result) return result;
    } catch (error) {
      if (!isOutdated(error, seen) || attempt >= MOST_ATTEMPTS) throw error;
    }
    if (attempt >= MOST_ATTEMPTS) {
      throw new BowlineError(
        'BOWLINE_WRITE_CONTENDED',
        `cannot write ConfigMap ${namespace}/${name}: it comes and goes; find out who else writes it`,
        { retryable: true },
      );
    }
    const live = await tools.client.find(ConfigMap, { namespace, name });
    seen = { view: live && viewOf(live), live };
  }
}

/** carryOut does what was decided; undefined when the content of the copy is needed for it. */
async function carryOut(
  tools: CopyTools,
  target: Target,
  wish: Wish,
  plan: CopyPlan,
  { view, live }: Seen,
): Promise<CopyResult | undefined> {
  const { desired, rules } = wish;
  if (plan.step === 'create' || !view) return createCopy(tools, target, desired, desired, { deed: 'created' });
  switch (plan.step) {
    case 'keep':
      return untouched(target, view);
    case 'stop':
      return { ...untouched(target, view), obstacle: plan.why };
    case 'mark':
      return patchCopy(tools, target, view, desired, desired, { withContent: false, deed: 'marked' });
    case 'write': {
      const deed = plan.cause === 'drift' ? 'repaired' : 'updated';
      if (rules.policy !== 'Merge') {
        return patchCopy(tools, target, view, desired, desired, { withContent: true, deed });
      }
      return live && writeMerged(tools, target, wish, view, live, deed);
    }
    case 'recreate':
      if (rules.policy === 'Merge') return live && writeMerged(tools, target, wish, view, live, 'recreated');
      return live && recreate(tools, target, desired, desired, view, live);
    case 'adopt':
      return live && adopt(tools, target, wish, view, live);
  }
}

async function writeMerged(
  tools: CopyTools,
  target: Target,
  { desired, rules }: Wish,
  view: CopyView,
  live: ConfigMap,
  deed: Deed,
): Promise<CopyResult> {
  const merged = merge(live, desired, rules.isForced);
  // What is in conflict aside, it may be as it should be.
  const { step } = planCopy(view, { ...desired, hash: merged.hash }, rules);
  if (step === 'keep') return withConflicts(untouched(target, view), merged);
  if (step === 'mark') {
    const marked = { withContent: false, deed: 'marked' } as const;
    return withConflicts(await patchCopy(tools, target, view, desired, merged, marked), merged);
  }
  if (deed === 'recreated') {
    // The keys of others would be lost if it were stopped in between.
    await saveContent(tools, live);
    return withConflicts(await recreate(tools, target, desired, merged, view, live), merged);
  }
  return withConflicts(await patchCopy(tools, target, view, desired, merged, { withContent: true, deed }), merged);
}

/** recreate replaces a copy of ours that cannot be changed. Stopped in between, the next run finds none and creates it. */
export async function recreate(
  tools: CopyTools,
  target: Target,
  desired: DesiredCopy,
  applied: Applied,
  view: CopyView,
  live: ConfigMap,
): Promise<CopyResult> {
  const { uid, resourceVersion, namespace, name } = view;
  const kept = keptMetadata(live.metadata ?? {}, view);
  await tools.client.delete(ConfigMap, { namespace, name }, { preconditions: { uid, resourceVersion } });
  return createCopy(tools, target, desired, applied, { deed: 'recreated', kept });
}

async function adopt(
  tools: CopyTools,
  target: Target,
  { desired, rules }: Wish,
  view: CopyView,
  live: ConfigMap,
): Promise<CopyResult> {
  const before = contentOf(live);
  // Whoever asked for the sync asked for these keys too: their values before are saved, not in the way.
  const applied =
    rules.policy === 'Merge' ? mergeContent(before, desired.content, { ours: new Set(), wins: true }) : desired;
  if (losesSomething(before, applied.content)) await saveContent(tools, live);
  const withContent = view.hash !== desired.hash;
  return patchCopy(tools, target, view, desired, applied, { withContent, adopts: true, deed: 'adopted' });
}

function merge(live: ConfigMap, desired: DesiredCopy, wins: boolean): Merged {
  const there = contentOf(live);
  // Copies that do not say so were written as a whole.
  const ours =
    managedKeysOf(live.metadata ?? {}) ?? new Set([...Object.keys(there.data), ...Object.keys(there.binaryData)]);
  return mergeContent(there, desired.content, { ours, wins });
}

function withConflicts(result: CopyResult, { conflicts }: Merged): CopyResult {
  if (conflicts.length === 0) return result;
  const keys = conflicts.slice(0, 10).join(', ');
  const message = `somebody else has given it other values of ${conflicts.length > 10 ? `${keys}, …` : keys}; remove them there, or set the annotation sync.bowline.dev/force-sync to a new value`;
  return { ...result, obstacle: { state: 'Conflict', reason: 'KeyConflict', message } };
}

/** isOutdated tells answers that mean: the copy is not what you think. */
function isOutdated(error: unknown, { view }: Seen): boolean {
  return isConflict(error) || isAlreadyExists(error) || (view !== undefined && isNotFound(error));
}
