import type { Event as CoreEvent } from '@bowline/kubernetes';
import { canonicalJson, type FieldProblem, labelKeyProblems } from '@bowline/machinery';
import type { PartialObject } from '../shared/partial-object.ts';
import { IMMUTABLE, invalid, invalids, required } from '../shared/problems.ts';

type Event = PartialObject<CoreEvent>;

const MAX_LENGTH = 128;
const MAX_NOTE_LENGTH = 1024;
/** Events about cluster-scoped objects are in one of these namespaces. */
const HOME: ReadonlySet<string> = new Set(['default', 'kube-system']);
const FROZEN = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'reportingComponent',
  'reportingInstance',
  'action',
  'related',
  'type',
] as const;

/** eventProblems validates an event of either group; those with an eventTime have more required fields. */
export function eventProblems(event: Event, reporterField: string): FieldProblem[] {
  const about = event.involvedObject?.namespace ?? '';
  const home = event.metadata?.namespace ?? '';
  const elsewhere = invalid('involvedObject.namespace', about, 'does not match event.namespace');
  if (!event.eventTime) {
    const isHome = about === '' ? home === 'default' || home === '' : about === home;
    return isHome ? [] : [elsewhere];
  }
  const problems: FieldProblem[] = about === '' && !HOME.has(home) ? [elsewhere] : [];
  const reporter = event.reportingComponent ?? '';
  if (reporter === '') problems.push(required(reporterField));
  problems.push(...invalids(reporterField, reporter, labelKeyProblems(reporter)));
  problems.push(...textProblems('reportingInstance', event.reportingInstance));
  problems.push(...textProblems('action', event.action));
  problems.push(...textProblems('reason', event.reason));
  if ((event.message ?? '').length > MAX_NOTE_LENGTH) problems.push(tooLong('message', MAX_NOTE_LENGTH));
  return problems;
}

/** newerEventProblems validates an event of events.k8s.io, given with the field names of the core group. */
export function newerEventProblems(event: Event, old: Event | undefined): FieldProblem[] {
  const problems = eventProblems(event, 'reportingController');
  const type = event.type ?? '';
  if (old) return [...problems, ...seriesProblems(event), ...changeProblems(event, old)];
  if (!event.eventTime) problems.push(required('eventTime'));
  if (type !== 'Normal' && type !== 'Warning') problems.push(invalid('type', '', `has invalid value: ${type}`));
  const unset = (field: string, isSet: boolean): void => {
    if (isSet) problems.push(invalid(field, '', 'needs to be unset'));
  };
  unset('firstTimestamp', !!event.firstTimestamp);
  unset('lastTimestamp', !!event.lastTimestamp);
  unset('count', !!event.count);
  unset('source', !!event.source?.component || !!event.source?.host);
  return [...problems, ...seriesProblems(event)];
}

function seriesProblems({ series }: Event): FieldProblem[] {
  if (!series) return [];
  const problems: FieldProblem[] = [];
  if ((series.count ?? 0) < 2) problems.push(invalid('series.count', '', 'should be at least 2'));
  if (!series.lastObservedTime) problems.push(required('series.lastObservedTime'));
  return problems;
}

function changeProblems(event: Event, old: Event): FieldProblem[] {
  return FROZEN.filter((name) => canonicalJson(event[name] ?? null) !== canonicalJson(old[name] ?? null)).map((name) =>
    invalid(name === 'reportingComponent' ? 'reportingController' : name, event[name], IMMUTABLE),
  );
}

function textProblems(field: string, text = ''): FieldProblem[] {
  if (text === '') return [required(field)];
  return text.length > MAX_LENGTH ? [tooLong(field, MAX_LENGTH)] : [];
}

function tooLong(field: string, most: number): FieldProblem {
  return invalid(field, '', `can have at most ${most} characters`);
}
