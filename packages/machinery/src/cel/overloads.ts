import type { Meter } from './frame.ts';
import { ObjectValue } from './schema-values.ts';
import { type Bindings, type CelType, DYN, fits, formatType, isUnknown, parseType, substitute } from './types.ts';
import { CelFailure, type CelValue, ListValue, MapValue, OptionalValue } from './values.ts';

/**
 * Run is the implementation of a function. It is called with a meter as `this`, to count work that grows faster than
 * its input.
 */
export type Run = (this: Meter, ...values: never[]) => CelValue;

/** Overload is one signature of a function with its implementation. The first parameter of a method is its receiver. */
export interface Overload {
  readonly name: string;
  readonly isMethod: boolean;
  readonly parameters: readonly CelType[];
  readonly result: CelType;
  readonly run: Run;
}

/**
 * overload declares a function: `string.startsWith(string): bool` is a method, `size(string): int` a function, and
 * `sets.contains::(list<A>, list<A>): bool` a function with a dotted name. The types of the arguments are checked
 * before the call.
 */
export function overload(signature: string, run: Run): Overload {
  const match = /^(?:([\w<>, ]+)\.)?(\w+)(::)?\((.*)\): (.+)$/.exec(signature);
  if (match === null) throw new TypeError(`invalid signature: ${signature}`);
  const [, receiver, name = '', dotted, parameters = '', result = ''] = match;
  const isMethod = receiver !== undefined && dotted === undefined;
  const types = splitParameters(parameters).map(parseType);
  return {
    name: isMethod || receiver === undefined ? name : `${receiver}.${name}`,
    isMethod,
    parameters: isMethod ? [parseType(receiver), ...types] : types,
    result: parseType(result),
    run,
  };
}

function splitParameters(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = '';
  for (const character of text) {
    if (character === '<') depth++;
    if (character === '>') depth--;
    if (character === ',' && depth === 0) {
      parts.push(part);
      part = '';
    } else {
      part += character;
    }
  }
  return part.trim() === '' ? parts : [...parts, part];
}

/** Resolved is a call with its overloads resolved. */
export interface Resolved {
  readonly type: CelType;
  /** All matching overloads; more than one only if an operand is dynamic. */
  readonly overloads: readonly Overload[];
  readonly run: (values: readonly CelValue[], meter: Meter) => CelValue;
}

/**
 * resolveCall finds the overloads that match the argument types, or returns undefined. Dynamic types are dispatched at
 * run time.
 */
export function resolveCall(candidates: readonly Overload[], given: readonly CelType[]): Resolved | undefined {
  const matching: { overload: Overload; result: CelType }[] = [];
  for (const candidate of candidates) {
    if (candidate.parameters.length !== given.length) continue;
    const bindings: Bindings = new Map();
    const isMatch = candidate.parameters.every((parameter, index) => {
      const type = given[index];
      return type !== undefined && fits(parameter, type, bindings);
    });
    if (isMatch) matching.push({ overload: candidate, result: substitute(candidate.result, bindings) });
  }
  const [first] = matching;
  if (first === undefined) return undefined;
  const isStatic = matching.length === 1 && given.every((type) => !hasUnknown(type));
  const overloads = matching.map((each) => each.overload);
  const chosen = dispatch(overloads);
  const isOneType = matching.every((each) => formatType(each.result) === formatType(first.result));
  return {
    type: isOneType ? first.result : DYN,
    overloads,
    run(values, meter) {
      // Null matches the types of times, addresses and similar values, but the functions on those types do not accept
      // it.
      const run = isStatic && !values.includes(null) ? first.overload.run : chosen;
      return run.apply(meter, values as never[]);
    },
  };
}

function hasUnknown(type: CelType): boolean {
  if (type.kind === 'list') return hasUnknown(type.element);
  if (type.kind === 'map') return hasUnknown(type.key) || hasUnknown(type.value);
  return isUnknown(type) || (type.kind === 'optional' && hasUnknown(type.value));
}

function dispatch(overloads: readonly Overload[]): Run {
  return function (...values: readonly CelValue[]) {
    const chosen = overloads.find((each) =>
      each.parameters.every((type, index) => isOfType(values[index] ?? null, type)),
    );
    if (chosen === undefined) throw new CelFailure('no such overload');
    return chosen.run.apply(this, values as never[]);
  };
}

/** isOfType reports whether a value has a type; only the first item of a list is checked. */
export function isOfType(value: CelValue, type: CelType): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'free':
    case 'parameter':
      return true;
    case 'list': {
      const first = value instanceof ListValue ? value.items[0] : undefined;
      return value instanceof ListValue && (first === undefined || isOfType(first, type.element));
    }
    case 'map':
      return value instanceof MapValue;
    case 'optional':
      return value instanceof OptionalValue;
    case 'object':
      return value instanceof ObjectValue;
    default:
      return kindOf(value) === type.kind;
  }
}

/** kindOf returns the kind of a value's type. */
export function kindOf(value: CelValue): CelType['kind'] | 'opaque' {
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int';
    case 'number':
      return 'double';
    case 'string':
      return 'string';
    default:
      if (value === null) return 'null';
      return value instanceof Uint8Array ? 'bytes' : value.type;
  }
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  null: 'null_type',
  timestamp: 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
  optional: 'optional_type',
  quantity: 'kubernetes.Quantity',
  ip: 'net.IP',
  cidr: 'net.CIDR',
  url: 'kubernetes.URL',
  format: 'kubernetes.NamedFormat',
  authorizer: 'kubernetes.authorization.Authorizer',
  pathCheck: 'kubernetes.authorization.PathCheck',
  groupCheck: 'kubernetes.authorization.GroupCheck',
  resourceCheck: 'kubernetes.authorization.ResourceCheck',
  decision: 'kubernetes.authorization.Decision',
};

/** typeName returns the name of a value's type, as `type(x)` returns it. */
export function typeName(value: CelValue): string {
  const kind = kindOf(value);
  return TYPE_NAMES[kind] ?? kind;
}
