import type { KubernetesObject } from '@bowline/kubernetes';
import { canonicalJson } from '../../../json/canonical-json.ts';
import { objectOf, type Stored } from '../../../storage/stored.ts';

/** Fields that both groups have under different names: of the older one, and of the younger. */
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
/** What the older group always writes and the younger only where there is something. */
const TEXTS = [
  ['reportingComponent', 'reportingController'],
  ['reportingInstance', 'reportingInstance'],
] as const;

/** isYounger says that an event has the shape of events.k8s.io. Such an event always says what it is about. */
function isYounger(stored: Stored): boolean {
  return stored.json.includes('"regarding":{');
}

/** olderView is an event, stored in either shape, as the core group shows it. */
export function olderView(stored: Stored): Stored {
  return isYounger(stored) ? { ...stored, json: canonicalJson(asOlder(objectOf(stored))) } : stored;
}

/** youngerView is an event, stored in either shape, as events.k8s.io shows it. */
export function youngerView(stored: Stored): Stored {
  return isYounger(stored) ? stored : { ...stored, json: canonicalJson(asYounger(objectOf(stored))) };
}

/** asOlder is an event in the shape of the core group, whatever shape it has. */
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
