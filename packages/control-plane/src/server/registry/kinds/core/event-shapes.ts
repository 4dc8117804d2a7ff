import type { KubernetesObject } from '@bowline/kubernetes';
import { canonicalJson } from '@bowline/machinery';
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
const NEWER_NAMES: ReadonlyMap<string, string> = new Map(NAMES);
const OLDER_NAMES: ReadonlyMap<string, string> = new Map(NAMES.map(([older, newer]) => [newer, older]));
/** Fields that the older group always writes, and the younger group only if they are not empty. */
const TEXTS = [
  ['reportingComponent', 'reportingController'],
  ['reportingInstance', 'reportingInstance'],
] as const;

/** isNewer reports whether an event has the shape of events.k8s.io. Such an event always has a `regarding` field. */
function isNewer(stored: Stored): boolean {
  return stored.json.includes('"regarding":{');
}

/** olderView returns an event, stored in either shape, in the shape of the core group. */
export function olderView(stored: Stored): Stored {
  return isNewer(stored) ? { ...stored, json: canonicalJson(asOlder(objectOf(stored))) } : stored;
}

/** newerView returns an event, stored in either shape, in the shape of events.k8s.io. */
export function newerView(stored: Stored): Stored {
  return isNewer(stored) ? stored : { ...stored, json: canonicalJson(asNewer(objectOf(stored))) };
}

/** asOlder returns an event of either shape in the shape of the core group. */
export function asOlder(event: KubernetesObject): Readonly<Record<string, unknown>> {
  const older = renamed(event, OLDER_NAMES);
  for (const [name] of TEXTS) older[name] ??= '';
  return older;
}

function asNewer(event: KubernetesObject): Readonly<Record<string, unknown>> {
  const newer = renamed(event, NEWER_NAMES);
  for (const [, name] of TEXTS) if (newer[name] === '') newer[name] = undefined;
  return newer;
}

function renamed(event: KubernetesObject, names: ReadonlyMap<string, string>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(event).map(([name, value]) => [names.get(name) ?? name, value]));
}
