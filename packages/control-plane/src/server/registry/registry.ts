import type { ApiResource } from './api-resource.ts';

/** Registry holds the resources that are currently served. Custom resources are added and removed at run time. */
export class Registry {
  readonly #byPath = new Map<string, ApiResource>();
  readonly #listeners = new Set<() => void>();
  #generation = 0;

  /** Increases with every change; anything derived from an older generation is stale. */
  get generation(): number {
    return this.#generation;
  }

  /** set serves resources, and replaces those with the same group, version and plural. */
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

  /** findKind returns the resource whose objects are of a kind. */
  findKind(group: string, version: string, kind: string): ApiResource | undefined {
    return this.all().find((each) => each.group === group && each.version === version && each.kind === kind);
  }

  /** serves reports whether any resource of a group and version is served. */
  serves(group: string, version: string): boolean {
    return this.all().some((each) => each.group === group && each.version === version);
  }

  /** hasBuiltIn reports whether a group has built-in kinds. */
  hasBuiltIn(group: string): boolean {
    return this.all().some((each) => each.group === group && each.schema !== undefined);
  }

  all(): readonly ApiResource[] {
    return [...this.#byPath.values()];
  }

  /** onChange calls `listener` whenever a resource is added or removed. */
  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  #changed(): void {
    this.#generation++;
    for (const listener of this.#listeners) listener();
  }
}

function pathOf(group: string, version: string, resource: string): string {
  return `${group}/${version}/${resource}`;
}
