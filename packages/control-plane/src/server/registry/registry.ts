import type { ApiResource } from './api-resource.ts';

/** Registry holds what is served now. Custom resources come and go. */
export class Registry {
  readonly #byPath = new Map<string, ApiResource>();
  readonly #listeners = new Set<() => void>();
  #generation = 0;

  /** Grows with every change: what was derived from an older one is stale. */
  get generation(): number {
    return this.#generation;
  }

  /** set serves resources; one with the same group, version and plural is replaced. */
  set(...resources: readonly ApiResource[]): void {
    for (const each of resources) this.#byPath.set(pathOf(each.group, each.version, each.resource), each);
    this.#changed();
  }

  /** remove stops serving a resource. */
  remove(group: string, version: string, resource: string): void {
    if (this.#byPath.delete(pathOf(group, version, resource))) this.#changed();
  }

  find(group: string, version: string, resource: string): ApiResource | undefined {
    return this.#byPath.get(pathOf(group, version, resource));
  }

  /** findKind finds the resource whose objects are of a kind. */
  findKind(group: string, version: string, kind: string): ApiResource | undefined {
    return this.all().find((each) => each.group === group && each.version === version && each.kind === kind);
  }

  /** serves says whether anything of a group and version is served. */
  serves(group: string, version: string): boolean {
    return this.all().some((each) => each.group === group && each.version === version);
  }

  /** hasBuiltIn says whether a group is one of those that are there before anybody defines a kind. */
  hasBuiltIn(group: string): boolean {
    return this.all().some((each) => each.group === group && each.schema !== undefined);
  }

  all(): readonly ApiResource[] {
    return [...this.#byPath.values()];
  }

  /** onChange tells that something is served, or no longer. */
  onChange(tell: () => void): Disposable {
    this.#listeners.add(tell);
    return { [Symbol.dispose]: () => this.#listeners.delete(tell) };
  }

  #changed(): void {
    this.#generation++;
    for (const tell of this.#listeners) tell();
  }
}

function pathOf(group: string, version: string, resource: string): string {
  return `${group}/${version}/${resource}`;
}
