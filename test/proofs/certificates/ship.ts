import { CustomResourceDefinition, type KubernetesObject, resource } from '@bowline/kubernetes';
import { admit, deny, mutating, validating } from '@bowline/runtime';
import type { Client } from '@bowline/runtime/client';
import type { Webhook } from '@bowline/runtime/webhook';

/** Ship is a custom kind, so that its webhooks may fail closed. */
export interface Ship extends KubernetesObject {
  readonly spec?: { readonly order: 'sail' | 'sink' };
}

export const Ship = resource<Ship>()({
  group: 'proof.bowline.dev',
  version: 'v1',
  kind: 'Ship',
  plural: 'ships',
  scope: 'Namespaced',
});

/** The replica that changed the object. */
export const SERVED_BY = 'proof.bowline.dev/served-by';

export function ship(namespace: string, order: 'sail' | 'sink'): Ship {
  const { group, version, kind } = Ship;
  return { apiVersion: `${group}/${version}`, kind, metadata: { namespace, generateName: 'ship-' }, spec: { order } };
}

/** shipWebhooks returns the webhooks of one replica. */
export function shipWebhooks(replica: string): readonly Webhook[] {
  const options = { operations: ['CREATE'], failurePolicy: 'Fail', timeoutSeconds: 10 } as const;
  return [
    mutating(Ship, { ...options, name: 'mark' }).handle(({ object }) => {
      const annotations = { ...object.metadata?.annotations, [SERVED_BY]: replica };
      return { ...object, metadata: { ...object.metadata, annotations } };
    }),
    validating(Ship, { ...options, name: 'judge' }).handle(({ object }) =>
      object.spec?.order === 'sink' ? deny('this ship must not sink') : admit(),
    ),
  ];
}

/** installShips installs the kind and waits until it is served. */
export async function installShips(admin: Client): Promise<void> {
  const name = `${Ship.plural}.${Ship.group}`;
  await admin.create(CustomResourceDefinition, {
    metadata: { name },
    spec: {
      group: Ship.group,
      scope: 'Namespaced',
      names: { kind: Ship.kind, plural: Ship.plural },
      versions: [
        {
          name: Ship.version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  });
  const watch = await admin.watch(CustomResourceDefinition, {
    fieldSelector: `metadata.name=${name}`,
    signal: AbortSignal.timeout(20_000),
  });
  for await (const { object } of watch) {
    if (object.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True')) return;
  }
}
