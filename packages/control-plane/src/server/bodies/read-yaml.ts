import { MAX_JSON_DEPTH, quoteText, setMember, yamlNestsDeeper } from '@bowline/machinery';
import {
  type Alias,
  Composer,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  Parser,
  type Scalar,
  visit,
  type YAMLMap,
} from 'yaml';
import { resolveScalar, UnreadableScalar } from './yaml-scalar.ts';

/** ReadYaml is the first document of a text, converted to values that JSON can hold. */
export interface ReadYaml {
  readonly value: unknown;
  /** One message for each key that occurs more than once in its map; the last occurrence counts. */
  readonly duplicates: readonly string[];
}

/** UnreadableYaml reports text that is not YAML, or that has values which JSON cannot hold. */
export class UnreadableYaml extends Error {
  override readonly name = 'UnreadableYaml';
}

/**
 * readYaml parses YAML as the API server does: scalars follow YAML 1.1, and only values that JSON can hold are
 * accepted. The expansion of aliases is limited: a small text must not become a large value.
 */
export function readYaml(text: string): ReadYaml {
  const lines = new LineCounter();
  const tokens = [...new Parser(lines.addNewLine).parse(text)];
  if (tokens.some((token) => yamlNestsDeeper(token, MAX_JSON_DEPTH))) throw tooDeep();
  // The parser returns every scalar as text; `resolveScalar` determines its value.
  const options = { schema: 'failsafe', resolveKnownTags: false, uniqueKeys: false, merge: false } as const;
  const [document] = new Composer({ ...options, logLevel: 'error' }).compose(tokens);
  if (!document) return { value: null, duplicates: [] };
  const [error] = document.errors;
  if (error) throw new UnreadableYaml(`yaml: ${error.message.split('\n', 1)[0]}`);
  const reader = new Reader(document, lines);
  return { value: reader.value(document.contents, 0), duplicates: reader.duplicates };
}

function tooDeep(): UnreadableYaml {
  return new UnreadableYaml(`yaml: exceeded max depth of ${MAX_JSON_DEPTH}`);
}

class Reader {
  readonly duplicates: string[] = [];
  readonly #targets: ReadonlyMap<Alias, Node>;
  readonly #lines: LineCounter;
  /** The aliases being expanded around the current value. */
  readonly #open = new Set<unknown>();
  #count = 0;
  #aliased = 0;

  constructor(document: Document, lines: LineCounter) {
    this.#targets = aliasTargets(document);
    this.#lines = lines;
  }

  value(node: unknown, depth: number): unknown {
    this.#count++;
    if (this.#open.size > 0) this.#aliased++;
    if (isExcessive(this.#count, this.#aliased)) throw new UnreadableYaml('yaml: document contains excessive aliasing');
    if (isAlias(node)) return this.#behind(node, (target) => this.value(target, depth));
    if (isScalar(node)) return this.#scalar(node);
    if (!isMap(node) && !isSeq(node)) return null;
    // Aliases can nest deeper than the text itself.
    if (depth >= MAX_JSON_DEPTH) throw tooDeep();
    if (isSeq(node)) return node.items.map((item) => this.value(item, depth + 1));
    const object: Record<string, unknown> = {};
    this.#fill(object, node, depth);
    return object;
  }

  #behind<T>(alias: Alias, read: (target: Node) => T): T {
    const target = this.#targets.get(alias);
    if (!target) throw new UnreadableYaml(`yaml: unknown anchor '${alias.source}' referenced`);
    if (this.#open.has(target)) throw new UnreadableYaml(`yaml: anchor '${alias.source}' value contains itself`);
    this.#open.add(target);
    const value = read(target);
    this.#open.delete(target);
    return value;
  }

  #fill(object: Record<string, unknown>, map: YAMLMap, depth: number): void {
    for (const pair of map.items) {
      if (this.#isMerge(pair)) this.#merge(object, pair.value, depth);
      else this.#set(object, pair, depth);
    }
  }

  #set(object: Record<string, unknown>, { key, value }: Pair, depth: number): void {
    const read = this.value(value, depth + 1);
    const name = this.#keyOf(key, read);
    if (Object.hasOwn(object, String(name))) {
      const at = (value as Node | null)?.range?.[0] ?? (key as Node).range?.[1] ?? 0;
      const shown = typeof name === 'string' ? quoteText(name) : String(name);
      this.duplicates.push(`line ${this.#lines.linePos(at).line}: key ${shown} already set in map`);
    }
    setMember(object, String(name), read);
  }

  #isMerge({ key }: Pair): boolean {
    return isScalar(key) && key.type === 'PLAIN' && key.value === '<<' && key.tag === undefined;
  }

  /** Merges the value of `<<`: a map, or a list of maps of which earlier ones take precedence. */
  #merge(object: Record<string, unknown>, node: unknown, depth: number): void {
    if (isAlias(node)) this.#behind(node, (target) => this.#merge(object, target, depth));
    else if (isMap(node)) this.#fill(object, node, depth);
    else if (isSeq(node)) for (const item of node.items.toReversed()) this.#merge(object, item, depth);
    else throw new UnreadableYaml('yaml: map merge requires map or sequence of maps as the value');
  }

  #keyOf(node: unknown, value: unknown): string | number | bigint | boolean {
    const key = this.value(node, 0);
    if (key === null) {
      const shown = typeof value === 'string' ? quoteText(value) : String(value);
      throw new UnreadableYaml(`unsupported map key of type: %!s(<nil>), key: <nil>, value: ${shown}`);
    }
    if (typeof key === 'object') throw new UnreadableYaml('yaml: invalid map key: keys must be scalars');
    return key as string | number | bigint | boolean;
  }

  #scalar({ value, type, tag }: Scalar): unknown {
    try {
      // With this schema, every scalar is a string.
      return resolveScalar(value as string, type === 'PLAIN', tag);
    } catch (error) {
      if (error instanceof UnreadableScalar) throw new UnreadableYaml(error.message);
      throw error;
    }
  }
}

/**
 * aliasTargets returns the target of each alias: the last preceding node with that anchor. It resolves all at once,
 * because the library searches the whole document for each alias.
 */
function aliasTargets(document: Document): ReadonlyMap<Alias, Node> {
  const targets = new Map<Alias, Node>();
  const anchors = new Map<string, Node>();
  visit(document, (_, node) => {
    if (isAlias(node)) {
      const target = anchors.get(node.source);
      if (target) targets.set(node, target);
    } else if (isNode(node) && node.anchor !== undefined) anchors.set(node.anchor, node);
  });
  return targets;
}

/** isExcessive reports whether nearly all values come from aliases, in a document that is not just small. */
function isExcessive(count: number, aliased: number): boolean {
  return aliased > 100 && count > 1_000 && (aliased > 0.99 * count || aliased > 100_000);
}
