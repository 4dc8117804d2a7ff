import type { Checked } from '../compile.ts';
import type { Ast } from '../parse.ts';
import { type CelType, DYN } from '../types.ts';
import { callCost, intLiteral, type Operand } from './call-cost.ts';
import { macroCost } from './macro-cost.ts';
import { add } from './saturating.ts';
import type { Bound, SizedType } from './sized-type.ts';
import { CREATE_LIST, CREATE_MAP, fixedSize, type Size, UNKNOWN_SIZE, unionSizes } from './sizes.ts';
import { append, formatPath, typeAt, type ValuePath } from './value-path.ts';

/**
 * CostEstimate is the worst-case cost of an expression, and the values that are bounded only by the size of a request.
 */
export interface CostEstimate {
  readonly cost: number;
  /** The missing keywords, by the values that the expression reads: `self.items[*].name`. */
  readonly unbounded: ReadonlyMap<string, Bound>;
}

/** EntrySizes holds the sizes of the keys and values of a list or map that the expression creates. */
export interface EntrySizes {
  readonly kind: 'list' | 'map';
  readonly key: Size;
  readonly value: Size;
}

/** LocalVariable is a variable that a macro declares. */
export interface LocalVariable {
  readonly path: ValuePath | undefined;
  readonly size?: Size | undefined;
  readonly entries?: EntrySizes | undefined;
}

/**
 * estimateCost estimates the cost of a checked expression as the API server does before it accepts a rule: in units of
 * about 50 ns, for the largest values that the schema allows and a request can contain. `root` is the type of `self`
 * and `oldSelf`.
 */
export function estimateCost(checked: Checked, root: SizedType): CostEstimate {
  const estimator = new CostEstimator(checked, root);
  const cost = estimator.cost(checked.ast);
  return { cost, unbounded: estimator.unbounded };
}

/** CostEstimator adds up the cost of the parts of one expression, and remembers their sizes. */
export class CostEstimator {
  readonly unbounded = new Map<string, Bound>();
  readonly #checked: Checked;
  readonly #root: SizedType;
  readonly #paths = new Map<Ast, ValuePath | undefined>();
  readonly #sizes = new Map<Ast, Size>();
  readonly #entries = new Map<Ast, EntrySizes>();
  readonly #variables = new Map<string, LocalVariable[]>();

  constructor(checked: Checked, root: SizedType) {
    this.#checked = checked;
    this.#root = root;
  }

  /** cost returns the cost of a part of the expression, including everything inside it. */
  cost(ast: Ast): number {
    switch (ast.op) {
      case 'value':
        return 0;
      case 'id':
        if (this.#local(ast.args) === undefined) this.#paths.set(ast, append(undefined, ast.args));
        return 1;
      case '.':
        return this.#selection(ast);
      case '.?':
        return add(this.operand(ast.args[0]).cost, 1);
      case '[]':
      case '[?]':
        return this.#index(ast);
      case 'list':
        return this.#list(ast);
      case 'map':
        return this.#map(ast);
      case '?:':
        return this.#conditional(ast);
      case '&&':
      case '||':
        return add(this.cost(ast.args[0]), this.cost(ast.args[1]));
      case '!_':
      case '-_':
        return this.#unary(ast);
      default:
        return this.#call(ast);
    }
  }

  /** operand returns the cost of an operand, and what a function needs to know about it. */
  operand(ast: Ast): Operand & { readonly cost: number } {
    const cost = this.cost(ast);
    const size = this.sizeOf(ast);
    const report = (): Size | undefined => this.#reported(size);
    return {
      ast,
      cost,
      type: this.typeOf(ast),
      path: this.pathOf(ast),
      // A size is reported only when it is read: most functions have the same cost for operands of any size.
      get size() {
        return report();
      },
    };
  }

  /** countOf returns how many times a loop over a part of the expression runs. */
  countOf(ast: Ast): Size {
    return this.#reported(this.sizeOf(ast)) ?? UNKNOWN_SIZE;
  }

  /** sizeAsVariable returns the size of a part of the expression that is bound to a variable. */
  sizeAsVariable(ast: Ast): Size | undefined {
    return this.#reported(this.#sizeAt(this.pathOf(ast)) ?? this.sizeOf(ast));
  }

  #reported(size: Size | undefined): Size | undefined {
    if (size?.unbounded !== undefined) this.unbounded.set(size.unbounded.value, size.unbounded.missing);
    return size;
  }

  /** typeOf returns the type of a part of the expression. */
  typeOf(ast: Ast): CelType {
    return this.#checked.types.get(ast) ?? DYN;
  }

  /** pathOf returns the path of the value of a part of the expression; undefined if the value is computed. */
  pathOf(ast: Ast): ValuePath | undefined {
    const variable = ast.op === 'id' ? this.#local(ast.args) : undefined;
    return variable === undefined ? this.#paths.get(ast) : variable.path;
  }

  /** sizeOf returns the size of a part of the expression; undefined if nothing bounds it. */
  sizeOf(ast: Ast): Size | undefined {
    const known = this.#sizes.get(ast) ?? literalSize(ast);
    if (known !== undefined) return known;
    const bounded = this.#sizeAt(this.pathOf(ast));
    if (bounded !== undefined) {
      this.#sizes.set(ast, bounded);
      return bounded;
    }
    return scalarSize(this.typeOf(ast)) ?? (ast.op === 'id' ? this.#local(ast.args)?.size : undefined);
  }

  /** setSize stores the size of a part whose size follows from its operands. */
  setSize(ast: Ast, size: Size | undefined): void {
    if (size !== undefined) this.#sizes.set(ast, size);
  }

  /** entriesOf returns the sizes of the entries of a list or map that the expression creates. */
  entriesOf(ast: Ast): EntrySizes | undefined {
    return this.#entries.get(ast) ?? (ast.op === 'id' ? this.#local(ast.args)?.entries : undefined);
  }

  /** setEntries stores the sizes of the entries of a list or map that the expression creates. */
  setEntries(ast: Ast, entries: EntrySizes | undefined): void {
    if (entries !== undefined) this.#entries.set(ast, entries);
  }

  /** within calls `run` with the variables that a macro declares. */
  within<T>(variables: readonly (readonly [name: string, variable: LocalVariable])[], run: () => T): T {
    for (const [name, variable] of variables)
      this.#variables.set(name, [...(this.#variables.get(name) ?? []), variable]);
    const result = run();
    for (const [name] of variables) this.#variables.get(name)?.pop();
    return result;
  }

  #local(name: string): LocalVariable | undefined {
    return this.#variables.get(name)?.at(-1);
  }

  #sizeAt(path: ValuePath | undefined): Size | undefined {
    const type = typeAt(path, this.#root);
    if (type === undefined || path === undefined) return undefined;
    const size = { min: 0, max: type.maxElements };
    return type.missing === undefined
      ? size
      : { ...size, unbounded: { value: formatPath(path), missing: type.missing } };
  }

  #selection(ast: Ast & { op: '.' | '.?' }): number {
    const [operand, name] = ast.args;
    const type = this.#checked.types.get(operand);
    if (type === undefined) {
      // The name of a type, such as google.protobuf.Duration, which is type-checked as a whole.
      this.#paths.set(ast, append(undefined, name));
      return 1;
    }
    const cost = this.cost(operand);
    this.#paths.set(ast, append(this.pathOf(operand), name));
    return type.kind === 'map' || type.kind === 'object' ? add(cost, 1) : cost;
  }

  #index(ast: Ast & { op: '[]' | '[?]' }): number {
    const [holder, key] = ast.args;
    const container = this.operand(holder);
    const cost = add(add(container.cost, this.operand(key).cost), 1);
    const { kind } = container.type;
    if (ast.op === '[?]' || kind === 'optional') return cost;
    const entry = this.entriesOf(holder)?.value;
    // A dynamic value could be a list or a map.
    const steps = kind === 'list' ? ['@items'] : kind === 'map' ? ['@values'] : ['@items', '@values'];
    for (const step of steps) {
      this.#paths.set(ast, append(this.pathOf(holder), step));
      this.setSize(ast, entry ?? this.sizeOf(ast));
    }
    return cost;
  }

  #list(ast: Ast & { op: 'list' }): number {
    let cost = CREATE_LIST;
    for (const item of ast.args) cost = add(cost, this.cost(item));
    this.setEntries(ast, { kind: 'list', key: fixedSize(1), value: this.#sizeOfAny(ast.args) });
    return cost;
  }

  #map(ast: Ast & { op: 'map' }): number {
    let cost = CREATE_MAP;
    for (const [key, value] of ast.args) cost = add(add(cost, this.cost(key)), this.cost(value));
    const key = this.#sizeOfAny(ast.args.map(([each]) => each));
    this.setEntries(ast, { kind: 'map', key, value: this.#sizeOfAny(ast.args.map(([, each]) => each)) });
    return cost;
  }

  #sizeOfAny(parts: readonly Ast[]): Size {
    if (parts.length === 0) return fixedSize(0);
    return parts.map((part) => this.sizeOf(part) ?? UNKNOWN_SIZE).reduce(unionSizes);
  }

  #conditional(ast: Ast & { op: '?:' }): number {
    const [condition, yes, no] = ast.args.map((part) => this.operand(part));
    if (condition === undefined || yes === undefined || no === undefined) return 0;
    this.setSize(ast, unionSizes(yes.size ?? UNKNOWN_SIZE, no.size ?? UNKNOWN_SIZE));
    this.setEntries(ast, unionEntries(this.entriesOf(yes.ast), this.entriesOf(no.ast)));
    return add(condition.cost, Math.max(yes.cost, no.cost));
  }

  #unary(ast: Ast & { op: '!_' | '-_' }): number {
    if (ast.op === '-_' && ast.args.op === 'value') return 0;
    const { args: inner } = ast;
    const isInRow = inner.op === ast.op && !this.#checked.source.slice(ast.pos, inner.pos).includes('(');
    // Two operators in a row cancel each other out before the estimate.
    if (isInRow && (inner.op === '!_' || inner.op === '-_')) return this.cost(inner.args);
    return add(this.cost(inner), 1);
  }

  #call(ast: Ast): number {
    const call = this.#checked.calls.get(ast);
    if (call === undefined) return macroCost(this, ast);
    const [receiver, parts] = partsOf(ast, call.isMethod);
    if (call.name === 'dyn') return this.#dynamic(ast, parts[0] ?? ast);
    const args = parts.map((part) => this.operand(part));
    const target = receiver === undefined ? undefined : this.operand(receiver);
    const itemSize = (list: Operand): Size => {
      return this.#reported(this.#sizeAt(list.path && appendCopy(list.path))) ?? UNKNOWN_SIZE;
    };
    let cost = 0;
    let size: Size | undefined;
    for (const overload of call.overloads) {
      const estimate = callCost({ name: call.name, overload, target, args, itemSize });
      cost = Math.max(cost, estimate.cost);
      if (estimate.size !== undefined) size = size === undefined ? estimate.size : unionSizes(size, estimate.size);
      size ??= this.sizeOf(ast);
    }
    const [left, right] = args;
    if (call.name === '_+_' && left !== undefined && right !== undefined)
      this.setEntries(ast, unionEntries(this.entriesOf(left.ast), this.entriesOf(right.ast)));
    this.setSize(ast, size);
    return args.reduce((sum, arg) => add(sum, arg.cost), add(cost, target?.cost ?? 0));
  }

  /** `dyn(x)` only hides the type of a value. */
  #dynamic(ast: Ast, part: Ast): number {
    const cost = add(this.cost(part), 1);
    this.copySizes(ast, part);
    return cost;
  }

  /** copySizes gives a part the same size as another one. */
  copySizes(to: Ast, from: Ast): void {
    this.setSize(to, this.sizeOf(from));
    this.setEntries(to, this.entriesOf(from));
  }
}

function partsOf(ast: Ast, isMethod: boolean): readonly [receiver: Ast | undefined, args: readonly Ast[]] {
  switch (ast.op) {
    case 'call':
      return [undefined, ast.args[1]];
    case 'rcall':
      return [isMethod ? ast.args[1] : undefined, ast.args[2]];
    default:
      return [undefined, ast.args as readonly Ast[]];
  }
}

/** The items of a list are looked up by a separate copy of the path, which overwrites no other path. */
function appendCopy({ cells, length }: ValuePath): ValuePath {
  return append({ cells: cells.slice(0, length), capacity: length, length }, '@items');
}

/** unionEntries returns the entry sizes of a value that is one of two lists or maps. */
export function unionEntries(a: EntrySizes | undefined, b: EntrySizes | undefined): EntrySizes | undefined {
  if (a === undefined || b === undefined) return undefined;
  return { kind: a.kind, key: unionSizes(a.key, b.key), value: unionSizes(a.value, b.value) };
}

function literalSize(ast: Ast): Size | undefined {
  if (ast.op === 'list' || ast.op === 'map') return fixedSize(ast.args.length);
  if (ast.op === '-_') return ast.args.op === 'value' || intLiteral(ast) !== undefined ? fixedSize(1) : undefined;
  if (ast.op !== 'value') return undefined;
  if (typeof ast.args === 'string') return fixedSize([...ast.args].length);
  return fixedSize(ast.args instanceof Uint8Array ? ast.args.length : 1);
}

const SCALARS: ReadonlySet<string> = new Set(['bool', 'int', 'double', 'duration', 'timestamp']);

/** scalarSize returns the size of types whose values all have the same size. */
export function scalarSize(type: CelType): Size | undefined {
  if (type.kind === 'optional') return scalarSize(type.value);
  return SCALARS.has(type.kind) ? fixedSize(1) : undefined;
}
