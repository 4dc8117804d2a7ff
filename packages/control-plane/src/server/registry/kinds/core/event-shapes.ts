import type { KubernetesObject } from '@bowline/kubernetes';
import { canonicalJson } from '../../../json/canonical-json.ts';
import { objectOf, type Stored } from '../../../storage/stored.ts';

/** Fields that have different names in the two groups: the name in the older group, and the name in the younger one. */
const NAMES: readonly (readonly [older: string, younger: string])[] = [
  ['count', 'deprecatedCount'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['reportingComponent', 'reportingController'],
  ['source', 'deprecatedSource'],
];
const YOUNGER: ReadonlyMap<string, string> = new Map(NAMES);
const OLDER: ReadonlyMap<string, string> = new Map(NAMES.map(([older, younger]) => [younger, older]));
/** Fields that the older group always writes, and the younger group only if they are not empty. */
const TEXTS = [
  ['reportingComponent', 'reportingController'],
  ['reportingInstance', 'reportingInstance'],
] as const;

/** isYounger reports whether an event has the shape of events.k8s.io. Such an event always has a `regarding` field. */
function isYounger(stored: Stored): boolean {
  return stored.json.includes('"regarding":{');
}

/** olderView returns an event, stored in either shape, in the shape of the core group. */
export function olderView(stored: Stored): Stored {
  return isYounger(stored) ? { ...stored, json: canonicalJson(asOlder(objectOf(stored))) } : stored;
}

/** youngerView returns an event, stored in either shape, in the shape of events.k8s.io. */
export function youngerView(stored: Stored): Stored {
  return isYounger(stored) ? stored : { ...stored, json: canonicalJson(asYounger(objectOf(stored))) };
}

/** asOlder returns an event of either shape in the shape of the core group. */
export function asOlder(event: KubernetesObject): Readonly<Record<string, unknown>> {
  const older = renamed(event, OLDER);
  for (const [name] of TEXTS) older[name] ??= '';
  return older;
}

function asYounger(event: KubernetesObject): Readonly<Record<string, unknown>> {
  const younger = renamed(event, YOUNGER);
  for (const [, name] of TEXTS) if (younger[name] === '') younger[name] = undefined;
  return younger;
}

function renamed(event: KubernetesObject, names: ReadonlyMap<string, string>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(event).map(([name, value]) => [names.get(name) ?? name, value]));
}
