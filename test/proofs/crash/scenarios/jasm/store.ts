import type { ControlPlaneAccess } from '@bowline/control-plane';
import { Secret } from '@bowline/kubernetes';
import type { Client } from '@bowline/runtime/client';

const NAME = 'jasm-mock';

/** Store is the Secret with the mock's secrets, and counts how often the operator has read it. */
export class Store {
  /** Its key, in the manager's namespace. */
  readonly key: { readonly namespace: string; readonly name: string };
  readonly #admin: Client;
  readonly #controlPlane: Pick<ControlPlaneAccess, 'audit'>;
  readonly #values = new Map<string, Readonly<Record<string, string>>>();

  constructor(admin: Client, controlPlane: Pick<ControlPlaneAccess, 'audit'>, namespace: string) {
    this.#admin = admin;
    this.#controlPlane = controlPlane;
    this.key = { namespace, name: NAME };
  }

  /** put sets the values of paths in one write; undefined removes a path. */
  async put(values: ReadonlyMap<string, Readonly<Record<string, string>> | undefined>): Promise<void> {
    const isNew = this.#values.size === 0;
    for (const [path, entries] of values) {
      if (entries) this.#values.set(path, entries);
      else this.#values.delete(path);
    }
    const text = JSON.stringify(Object.fromEntries(this.#values));
    const data = { 'values.json': Buffer.from(text).toString('base64') };
    if (isNew) await this.#admin.create(Secret, { metadata: this.key, data });
    else await this.#admin.patch(Secret, this.key, { type: 'merge', body: { data } });
  }

  /** reads returns how often the operator has read it since a time, from the audit log: every call to the mock is one read. */
  async reads(since: number): Promise<number> {
    const { namespace, name } = this.key;
    return (await this.#controlPlane.audit(since)).filter(
      ({ user, verb, objectRef: { resource, ...read } = {} }) =>
        user.username?.startsWith('system:serviceaccount:') &&
        verb === 'get' &&
        resource === Secret.plural &&
        read.name === name &&
        read.namespace === namespace,
    ).length;
  }
}
