import { integerBelow, isSameJson, pick, type Random } from '@bowline/machinery';
import { OPERAND_KINDS } from '../../../operators/ztwim/src/api/operand-kinds.ts';
import type { SharedObjects } from '../../../operators/ztwim/src/operand/shared-objects.ts';
import { causesOf, describeConfig, holdReason } from './controllers.ts';
import { annotationOf, KINDS, type Kind, PARENT, type Stored, storedIn } from './five-objects.ts';
import { Model, type Request, type Write } from './model.ts';
import { expectedConfig, expectedHold, expectedRefusal } from './oracle.ts';
import type { Case, Order } from './random-case.ts';
import { OPERATOR, type Subject } from './subject.ts';

/** Verdict is what is wrong with a case, and what happened in it. */
export interface Verdict {
  readonly problems: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
}

/** More rounds than this mean that the controller writes without end. */
const MAX_ROUNDS = 12;
const SCHEDULES = 3;

/** judge plays a case and returns what is wrong. `random` selects schedules of the controller. */
export function judge({ events, contents, orders }: Case, random: Random, subject: Subject = OPERATOR): Verdict {
  const problems: string[] = [];
  const counts: Record<string, number> = {};
  const count = (name: string, by = 1): void => {
    counts[name] = (counts[name] ?? 0) + by;
  };
  const model = new Model(subject);
  for (const event of events) {
    const { request, writes } = model.play(event);
    count(`${event.type} events`);
    count('writes into operands', writes.length);
    problems.push(...writes.flatMap((write) => writeProblems(write, subject)));
    if (request) {
      count(request.problems.length > 0 ? 'refused requests' : 'accepted requests');
      problems.push(...requestProblems(request, subject, count));
    }
    problems.push(...stateProblems(model.objects, subject));
    count(describeState(model.objects));
  }
  problems.push(...scheduleProblems(model.objects, random, subject));
  problems.push(...orderProblems(contents, orders, subject, count));
  return { problems: [...new Set(problems)], counts };
}

function describeState(objects: SharedObjects): string {
  if (!objects.parent) return 'states without ZTWIM';
  const reasons = OPERAND_KINDS.map((kind) => expectedHold(objects, kind));
  const first = reasons.find((reason) => reason !== undefined);
  return first === undefined ? 'states in which all act' : `states with ${first}`;
}

/** stateProblems checks the result for five objects against the rules, and that it depends on nothing else. */
function stateProblems(objects: SharedObjects, subject: Subject): readonly string[] {
  const expected = expectedConfig(objects);
  const found = describeConfig(subject.resolve(objects.parent, objects.operands));
  const again = rearranged(objects);
  const repeated = describeConfig(subject.resolve(again.parent, again.operands));
  return [
    ...(isSameJson(found, expected) ? [] : [`resolve: ${found.join(', ')}; expected: ${expected.join(', ')}`]),
    ...(isSameJson(repeated, found)
      ? []
      : [`resolve: ${found.join(', ')}; for the same objects: ${repeated.join(', ')}`]),
    ...OPERAND_KINDS.flatMap((kind) => {
      const [reason, wanted] = [holdReason(objects, kind, subject), expectedHold(objects, kind)];
      return reason === wanted ? [] : [`${kind} holds because of ${reason}, expected: ${wanted}`];
    }),
  ];
}

/** rearranged returns the same objects with their fields in another order, and with other fields that do not matter. */
function rearranged({ parent, operands }: SharedObjects): SharedObjects {
  const copy = <T extends Stored>(object: T | undefined): T | undefined => {
    if (!object) return undefined;
    const metadata = { resourceVersion: '7', generation: 9, ...(reversed(object.metadata) as object) };
    return { status: {}, ...(reversed(object) as T), metadata };
  };
  const kinds = Object.entries(operands).toReversed();
  return {
    parent: copy(parent),
    operands: Object.fromEntries(kinds.map(([kind, operand]) => [kind, copy(operand)])) as never,
  };
}

function reversed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, each]) => [name, reversed(each)]),
  );
}

/** writeProblems checks that the operator writes only what an operand inherits, and that no result depends on it. */
function writeProblems({ kind, before, after }: Write, subject: Subject): readonly string[] {
  const old = copiesIn(before, kind);
  const follows = followed(before.operands[kind]);
  const lost = Object.entries(copiesIn(after, kind)).flatMap(([field, value]) => {
    const copy = old[field];
    return copy === undefined || copy === value || copy === follows[field]
      ? []
      : [`the controller replaces ${kind}.spec.${field} ${copy} by ${value}`];
  });
  const gone = Object.keys(old).filter((field) => copiesIn(after, kind)[field] === undefined);
  // A value that the operator wrote is no longer inherited after someone edited the annotation: it may disappear.
  const removed = gone.filter((field) => old[field] === follows[field]);
  return [
    ...lost,
    ...removed.map((field) => `the controller removes ${kind}.spec.${field}`),
    ...annotationProblems(after, kind),
    ...(gone.length > removed.length ? [] : sameResult(before, after, subject, `a write into ${kind}`)),
  ];
}

function copiesIn(objects: SharedObjects, kind: Kind): Readonly<Record<string, string | undefined>> {
  const spec = { ...storedIn(objects, kind)?.spec } as Record<string, string | undefined>;
  const fields = ['trustDomain', 'clusterName', 'bundleConfigMap', 'jwtIssuer'];
  return Object.fromEntries(fields.flatMap((field) => (spec[field] === undefined ? [] : [[field, spec[field]]])));
}

function followed(object: Stored | undefined): Readonly<Record<string, unknown>> {
  try {
    return { ...(JSON.parse(annotationOf(object) ?? '{}') as object) };
  } catch {
    return {};
  }
}

/** What the operator annotates as inherited is in the spec. */
function annotationProblems(objects: SharedObjects, kind: Kind): readonly string[] {
  const copies = copiesIn(objects, kind);
  return Object.entries(followed(storedIn(objects, kind)))
    .filter(([field, value]) => copies[field] !== value)
    .map(([field]) => `${kind} is annotated with another ${field} than it has`);
}

function sameResult(
  before: SharedObjects,
  after: SharedObjects,
  { resolve }: Subject,
  what: string,
): readonly string[] {
  const old = describeConfig(resolve(before.parent, before.operands));
  const result = describeConfig(resolve(after.parent, after.operands));
  return isSameJson(old, result) ? [] : [`${what} changes ${old.join(', ')} to ${result.join(', ')}`];
}

/** requestProblems checks that admission refuses what the rules say, and that the controllers agree. */
function requestProblems(request: Request, subject: Subject, count: (name: string) => void): readonly string[] {
  const { kind, admission, before, sent, after, problems } = request;
  const refused = [...new Set(problems.map(({ field }) => field.replace(/^spec\./, '')))].sort();
  const expected = expectedRefusal(kind, before, after);
  const wrong: string[] = [];
  // An old cache may overlook a problem, but it is never the reason of a refusal.
  const isWrong =
    admission.lag === 0 ? !isSameJson(refused, expected) : refused.some((field) => !expected.includes(field));
  if (isWrong)
    wrong.push(`${kind} is refused for ${refused.join() || 'nothing'}; expected: ${expected.join() || 'nothing'}`);
  if (admission.lag > 0) return wrong;
  wrong.push(...sameResult(sent, after, subject, `admission of ${kind}`));
  const causes = causesOf(after, subject);
  for (const { field, reason } of problems) {
    const name =
      field.includes('bundleConfig') && !field.endsWith('namespace')
        ? 'bundleConfigMap'
        : field.replace(/^spec\.(bundleConfig\.)?/, '');
    if (causes.some((cause) => cause.field === name)) continue;
    // Nothing was rendered yet that the controllers could protect.
    if (reason === 'FieldValueForbidden') count('refused: Forbid before the first rendering');
    else wrong.push(`${kind} is refused because of ${field}, but no controller would hold`);
  }
  if (problems.length > 0) return wrong;
  const known = new Set(causesOf(before, subject).map(({ text }) => text));
  for (const cause of causes.filter(({ text }) => !known.has(text))) {
    const exception = exceptionFor(request, cause);
    if (exception === undefined) wrong.push(`${kind} is accepted, but controllers would hold: ${cause.text}`);
    else count(`accepted, held: ${exception}`);
  }
  return wrong;
}

/** exceptionFor returns why a request is accepted although an operand holds afterwards; undefined if it should not be. */
function exceptionFor(
  { kind, before, after }: Request,
  { field, text, kinds }: { readonly field: string; readonly text: string; readonly kinds: readonly string[] },
): string | undefined {
  const isMissing = text.endsWith(' missing');
  if (kind !== PARENT) {
    if (isMissing) return 'an operand gives up the only value';
    return kinds.length > 0 && !kinds.includes(kind) ? 'two other operands contradict each other' : undefined;
  }
  if (!before.parent && isMissing && field === 'jwtIssuer') return 'ZTWIM is created without an issuer';
  const wasForbid = before.parent?.spec.identityChangePolicy === 'Forbid';
  if (text.endsWith(' forbidden') && !wasForbid && before.parent && after.parent)
    return 'Forbid is set before a change was carried out';
  return undefined;
}

/** scheduleProblems lets the controller run in several ways: it ends in the same state, and the result stays the same. */
function scheduleProblems(objects: SharedObjects, random: Random, subject: Subject): readonly string[] {
  const problems: string[] = [];
  const ends = Array.from({ length: SCHEDULES }, () => {
    const model = new Model(subject, objects);
    for (let round = 0; ; round++) {
      const some = round < 4 ? [pick(random, OPERAND_KINDS)] : OPERAND_KINDS;
      const order = integerBelow(random, 2) === 0 ? some : some.toReversed();
      const writes = model.run(order);
      if (round >= 4 && writes.length === 0) break;
      if (round > MAX_ROUNDS) {
        problems.push('the controller writes without end');
        break;
      }
    }
    problems.push(...sameResult(objects, model.objects, subject, 'the controller'));
    return model.objects;
  });
  if (ends.some((end) => !isSameJson(end, ends[0]))) problems.push('two schedules of the controller end differently');
  return problems;
}

/** orderProblems creates the same contents in two orders, with other things in between, and compares the results. */
function orderProblems(
  contents: Case['contents'],
  orders: readonly [Order, Order],
  subject: Subject,
  count: (name: string) => void,
): readonly string[] {
  const results = orders.map((order) => playOrder(contents, order, subject));
  const [first, second] = results;
  if (!first || !second) {
    count('pairs of orders with a refusal');
    return [];
  }
  count('pairs of orders');
  const describe = (objects: SharedObjects) => [
    ...describeConfig(subject.resolve(objects.parent, objects.operands)),
    ...OPERAND_KINDS.map((kind) => `${kind} ${holdReason(objects, kind, subject) ?? 'acts'}`),
  ];
  const [one, other] = [describe(first), describe(second)];
  return isSameJson(one, other) ? [] : [`two orders: ${one.join(', ')}, and: ${other.join(', ')}`];
}

/** Returns undefined if a request was refused: then not all contents exist. */
function playOrder(contents: Case['contents'], order: Order, subject: Subject): SharedObjects | undefined {
  const model = new Model(subject);
  const { kinds, runsAfter, detours, isAdmissionActive } = order;
  const admission = { isActive: isAdmissionActive, lag: 0 };
  for (const kind of kinds) {
    const [content, detour] = [contents[kind], detours[kind]];
    if (!content) continue;
    if (detour) {
      model.create(kind, detour, { isActive: false, lag: 0 });
      if (runsAfter.includes(kind)) settle(model);
      model.remove(kind);
    }
    const { request } = model.create(kind, content, admission);
    if (request && request.problems.length > 0) return undefined;
    if (runsAfter.includes(kind)) settle(model);
  }
  settle(model);
  return model.objects;
}

function settle(model: Model): void {
  for (let round = 0; round < MAX_ROUNDS && model.run(OPERAND_KINDS).length > 0; round++);
}

/** withoutParts returns the smaller versions of a case: each without one event, or one content. */
export function withoutParts({ events, contents, orders }: Case): readonly Case[] {
  return [
    ...events.map((_, index) => ({ events: events.toSpliced(index, 1), contents, orders })),
    ...KINDS.filter((kind) => contents[kind]).map((kind) => ({
      events,
      contents: Object.fromEntries(Object.entries(contents).filter(([name]) => name !== kind)),
      orders,
    })),
  ];
}
