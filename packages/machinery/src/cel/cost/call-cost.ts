import type { Overload } from '../overloads.ts';
import type { Ast } from '../parse.ts';
import type { CelType } from '../types.ts';
import { add, MAX_COST, scale, times, wrap } from './saturating.ts';
import { addSizes, CREATE_LIST, fixedSize, type Size, search, timesSizes, traversal, UNKNOWN_SIZE } from './sizes.ts';
import type { ValuePath } from './value-path.ts';

/** Operand is the receiver or an argument of a call. */
export interface Operand {
  readonly ast: Ast;
  readonly type: CelType;
  readonly path: ValuePath | undefined;
  /** Undefined if the size is unknown. */
  readonly size: Size | undefined;
}

/** Call is a call of one overload of a function. */
export interface Call {
  readonly name: string;
  readonly overload: Overload;
  /** The receiver, if the call is a method call. */
  readonly target: Operand | undefined;
  readonly args: readonly Operand[];
  /** itemSize returns the size of the items of a list. */
  itemSize(list: Operand): Size;
}

/** CallCost is the cost of a call without its operands, and the size of the result if it follows from the operands. */
export interface CallCost {
  readonly cost: number;
  readonly size?: Size | undefined;
}

type Estimate = (call: Call) => CallCost | undefined;

const CREATE_OBJECT = 40;
const CALL: CallCost = { cost: 1 };

/** The cost of one authorization check: an expression can make two. */
const AUTHORIZATION = 350_000;
/** A requirement of a selector takes at least two characters: `k,`. */
const REQUIREMENTS_PER_CHARACTER = 0.5;
/** The cost of the longest pattern of a named format, per character, and the size of the longest format name. */
const FORMAT_PATTERN = 32;
const FORMAT_NAME = fixedSize(64);
/** The size of an IP address in bytes. */
const ADDRESS = fixedSize(16);

function sizeOf(operand: Operand | undefined): Size {
  return operand?.size ?? UNKNOWN_SIZE;
}

/** ofTarget estimates a method call; a function of the same name has the default cost of a call. */
function ofTarget(estimate: (target: Operand, call: Call) => CallCost): Estimate {
  return (call) => (call.target === undefined ? undefined : estimate(call.target, call));
}

const reads: Estimate = ({ args }) => ({ cost: traversal(sizeOf(args[0])) });
const readsTarget = ofTarget((target) => ({ cost: traversal(sizeOf(target)), size: sizeOf(target) }));
const prefix = ofTarget((_, { args }) => ({ cost: traversal(sizeOf(args[0])) }));
const find = ofTarget((target, { args }) => {
  return { cost: search(sizeOf(target), sizeOf(args[0])), size: { min: 0, max: sizeOf(target).max } };
});

const selector: Estimate = ({ args }) => {
  const size = sizeOf(args[0]);
  const requirements = scale(size.max, REQUIREMENTS_PER_CHARACTER);
  return { cost: add(add(CREATE_LIST, traversal(size)), scale(requirements, CREATE_LIST + CREATE_OBJECT)) };
};

const compareItems = ofTarget((target, call) => {
  const size = sizeOf(target);
  if (target.type.kind !== 'list') return { cost: traversal(size) };
  const { kind } = target.type.element;
  const isText = kind === 'string' || kind === 'bytes';
  return { cost: times(size.max, isText ? add(1, traversal(call.itemSize(target))) : 1) };
});

const replace = ofTarget((target, { args: [from, to] }) => {
  const size = sizeOf(target);
  return { cost: traversal(size, 2), size: replacedSize(size, sizeOf(from), sizeOf(to)) };
});

function replacedSize(size: Size, from: Size, to: Size): Size {
  return {
    min: replacedLength(size.min, from.max, to.min, from.max <= to.min),
    max: replacedLength(size.max, from.min, to.max, to.max <= from.min),
  };
}

/**
 * An empty search text matches around every character. Any other text is assumed to match as often as it fits, unless
 * replacing it cannot move this bound.
 */
function replacedLength(length: number, from: number, to: number, isKept: boolean): number {
  if (from === 0) return add(times(add(length, 1), to), length);
  return isKept ? length : times(Math.ceil(length / from), to);
}

const split = ofTarget((target, { args: [, limit] }) => {
  const size = sizeOf(target);
  const literal = limit === undefined ? undefined : intLiteral(limit.ast);
  const max = literal === undefined ? size.max : Number(BigInt.asUintN(64, literal));
  return { cost: traversal(size, 2), size: { min: 0, max } };
});

const join = ofTarget((target, call) => {
  const items = sizeOf(target);
  const [separator] = call.args;
  let size = target.type.kind === 'list' ? timesSizes(items, call.itemSize(target)) : fixedSize(0);
  if (separator !== undefined) {
    const between = { min: Math.max(0, items.min - 1), max: Math.max(0, items.max - 1) };
    size = addSizes(size, timesSizes(sizeOf(separator), between));
  }
  return { cost: traversal(size), size };
});

const containsAddress: Estimate = ({ name, overload, args }) => {
  const compare = traversal(addSizes(ADDRESS, ADDRESS));
  const base = name === 'containsCIDR' ? add(add(compare, traversal(ADDRESS)), 1) : compare;
  return { cost: overload.parameters[1]?.kind === 'string' ? add(base, traversal(sizeOf(args[0]))) : base };
};

const validate: Estimate = ({ args }) => ({ cost: scale(traversal(sizeOf(args[0])), FORMAT_PATTERN) });

/** listCreationCost estimates a function that creates a list from another list. */
function listCreationCost(size: Size, factor = 1): CallCost {
  return { cost: add(scale(size.max, factor), 1 + CREATE_LIST), size };
}

const slice = ofTarget((target, { args: [start, end] }) => {
  const first = indexOf(start, 0);
  const last = indexOf(end, sizeOf(target).max);
  return listCreationCost(
    fixedSize(last < first ? wrap(0, (zero) => zero + BigInt(last) - BigInt(first)) : last - first),
  );
});

function indexOf(operand: Operand | undefined, otherwise: number): number {
  const literal = operand === undefined ? undefined : intLiteral(operand.ast);
  return literal === undefined ? otherwise : Math.max(0, Number(literal));
}

const pairs = ofTarget((target) => listCreationCost(timesSizes(sizeOf(target), sizeOf(target)), 2));
const sort = ofTarget((target, { overload }) => sortCost(sizeOf(target), elementOf(overload.parameters[0])));

/** sortCost returns the cost of sorting a list by keys of a type. */
export function sortCost(keys: Size, type: CelType | undefined): CallCost {
  const isText = type?.kind === 'string' || type?.kind === 'bytes';
  return listCreationCost(timesSizes(keys, keys), isText ? 2.1 : 2);
}

function elementOf(type: CelType | undefined): CelType | undefined {
  return type?.kind === 'list' ? type.element : undefined;
}

function sets(factor: number): Estimate {
  return ({ args: [a, b] }) => ({ cost: add(scale(timesSizes(sizeOf(a), sizeOf(b)).max, factor), 1) });
}

const compare: Estimate = ({ args: [a, b] }) => {
  return { cost: traversal(fixedSize(Math.min(sizeOf(a).max, sizeOf(b).max))) };
};

const order: Estimate = (call) => {
  const kind = call.overload.parameters[0]?.kind;
  return kind === 'string' || kind === 'bytes' ? compare(call) : undefined;
};

const CONSTANT_COST_COMPARISONS: ReadonlySet<string> = new Set([
  'ip',
  'cidr',
  'quantity',
  'authorizer',
  'pathCheck',
  'groupCheck',
  'resourceCheck',
  'decision',
]);

const equals: Estimate = (call) => {
  const [a, b] = call.args;
  const kind = a?.type.kind ?? 'dyn';
  if (kind !== b?.type.kind) return compare(call);
  if (CONSTANT_COST_COMPARISONS.has(kind)) return CALL;
  if (kind === 'format') return { cost: traversal(FORMAT_NAME) };
  return kind === 'url' ? { cost: b.size === undefined ? 1 : traversal(b.size) } : compare(call);
};

const concatenate: Estimate = ({ overload, args: [a, b] }) => {
  const kind = overload.parameters[0]?.kind;
  const size = addSizes(sizeOf(a), sizeOf(b));
  if (kind === 'list') return { cost: 1, size };
  return kind === 'string' || kind === 'bytes' ? { cost: traversal(size), size } : undefined;
};

const contained: Estimate = ({ overload, args: [, list] }) => {
  return overload.parameters[1]?.kind === 'list' ? { cost: sizeOf(list).max } : undefined;
};

const toBytes: Estimate = ({ overload, args: [text] }) => {
  if (overload.parameters[0]?.kind !== 'string') return undefined;
  const { min, max } = sizeOf(text);
  return { cost: traversal(sizeOf(text)), size: { min, max: wrap(max, (exact) => exact * 4n) } };
};

const toText: Estimate = ({ overload, args: [bytes] }) => {
  if (overload.parameters[0]?.kind !== 'bytes') return undefined;
  const { min, max } = sizeOf(bytes);
  return { cost: traversal(sizeOf(bytes)), size: { min: Math.floor(min / 4), max } };
};

const quote: Estimate = ({ args: [text] }) => {
  const { min, max } = sizeOf(text);
  const maxQuoted = wrap(max, (exact) => exact * 2n + 2n);
  return { cost: traversal(sizeOf(text)), size: { min: min + 2, max: maxQuoted } };
};

/** The functions that cost more than the default, or whose result size follows from their operands. */
const ESTIMATES: ReadonlyMap<string, Estimate> = new Map<string, Estimate>([
  ['check', () => ({ cost: AUTHORIZATION })],
  ['fieldSelector', selector],
  ['labelSelector', selector],
  ['isSorted', compareItems],
  ['sum', compareItems],
  ['max', compareItems],
  ['min', compareItems],
  ['indexOf', compareItems],
  ['lastIndexOf', compareItems],
  ['url', ({ args: [text] }) => ({ cost: traversal(sizeOf(text)), size: sizeOf(text) })],
  ['lowerAscii', readsTarget],
  ['upperAscii', readsTarget],
  ['substring', readsTarget],
  ['trim', readsTarget],
  ['replace', replace],
  ['split', split],
  ['join', join],
  ['find', find],
  ['findAll', find],
  ['cidr', reads],
  ['isIP', reads],
  ['isCIDR', reads],
  ['ip', (call) => (call.target === undefined ? reads(call) : CALL)],
  ['ip.isCanonical', ({ args: [text] }) => ({ cost: traversal(sizeOf(text), 2) })],
  ['containsIP', containsAddress],
  ['containsCIDR', containsAddress],
  ['quantity', reads],
  ['isQuantity', reads],
  ['validate', validate],
  ['slice', slice],
  ['flatten', ofTarget((target) => listCreationCost(sizeOf(target)))],
  ['lists.range', ({ args: [length] }) => listCreationCost(fixedSize(indexOf(length, MAX_COST)))],
  ['reverse', ofTarget((target) => listCreationCost(sizeOf(target)))],
  ['distinct', pairs],
  ['sort', sort],
  ['sets.contains', sets(1)],
  ['sets.intersects', sets(1)],
  ['sets.equivalent', sets(2)],
  ['format', ofTarget((target) => ({ cost: traversal(sizeOf(target)) }))],
  ['bytes', toBytes],
  ['string', toText],
  ['strings.quote', quote],
  ['startsWith', prefix],
  ['endsWith', prefix],
  ['@in', contained],
  ['matches', ofTarget((target, { args: [pattern] }) => ({ cost: search(sizeOf(target), sizeOf(pattern)) }))],
  [
    'contains',
    ofTarget((target, { args: [part] }) => ({ cost: times(traversal(sizeOf(target)), traversal(sizeOf(part))) })),
  ],
  ['_+_', concatenate],
  ['_==_', equals],
  ['_!=_', compare],
  ['_<_', order],
  ['_<=_', order],
  ['_>_', order],
  ['_>=_', order],
]);

/** callCost estimates the cost of a call without its operands. */
export function callCost(call: Call): CallCost {
  return ESTIMATES.get(call.name)?.(call) ?? CALL;
}

/** intLiteral returns the value of an integer literal in the expression. */
export function intLiteral(ast: Ast): bigint | undefined {
  if (ast.op === 'value' && typeof ast.args === 'bigint') return ast.args;
  return ast.op === '-_' && ast.args.op === 'value' && typeof ast.args.args === 'bigint' ? -ast.args.args : undefined;
}
