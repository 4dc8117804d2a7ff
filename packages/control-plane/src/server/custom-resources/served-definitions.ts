import type { CustomResourceDefinition } from '@bowline/kubernetes';
import { canonicalJson } from '@bowline/machinery';
import type { ApiResource } from '../registry/api-resource.ts';
import type { Registry } from '../registry/registry.ts';
import type { Storage } from '../storage/storage.ts';
import { isEstablished, isTerminating } from './conditions.ts';
import { schemaEngine } from './schema-engine.ts';

interface Served {
  /**
   * Identifies everything that serving depends on: if it is unchanged, the resource is not replaced and its watches
   * continue.
   */
  readonly signature: string;
  readonly resources: readonly ApiResource[];
}

/** ServedDefinitions keeps the registry in sync with the established definitions. */
export class ServedDefinitions {
  readonly #registry: Registry;
  readonly #storage: Storage;
  readonly #served = new Map<string, Served>();
  readonly #terminating = new Set<string>();

  constructor(registry: Registry, storage: Storage) {
    this.#registry = registry;
    this.#storage = storage;
  }

  /** set updates the served resources of a definition, or removes them. */
  set(name: string, definition: CustomResourceDefinition | undefined): void {
    if (definition && isTerminating(definition)) this.#terminating.add(name);
    else this.#terminating.delete(name);
    if (!definition || !isEstablished(definition)) {
      this.#replace(name, undefined);
      return;
    }
    const signature = canonicalJson([definition.spec, definition.status?.acceptedNames]);
    if (this.#served.get(name)?.signature === signature) return;
    const resources = schemaEngine().customResources(definition, {
      revision: this.#storage.revision,
      isTerminating: () => this.#terminating.has(name),
    });
    // A definition cannot replace a built-in kind of the same group.
    const own = resources.filter((each) => !this.#registry.find(each.group, each.version, each.resource)?.schema);
    this.#replace(name, { signature, resources: own });
  }

  #replace(name: string, next: Served | undefined): void {
    const kept = new Set(next?.resources.map(({ version }) => version));
    for (const { group, version, resource } of this.#served.get(name)?.resources ?? [])
      if (!kept.has(version)) this.#registry.remove(group, version, resource);
    if (next) {
      this.#served.set(name, next);
      this.#registry.set(...next.resources);
    } else {
      this.#served.delete(name);
    }
  }
}
