import { readFileSync } from 'node:fs';
import { jasmWith } from '@bowline/jasm';
import { type KubernetesObject, Pod, Secret } from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/events-v1';
import { expect } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import {
  type JasmCluster,
  jasmCluster,
  podSpec,
  valuesOf,
} from '../../../operators/jasm/src/testing/jasm-cluster.test-support.ts';

/** textOf is a file of this folder. */
export function textOf(file: string): string {
  return readFileSync(new URL(file, import.meta.url), 'utf8');
}

/** VALUE is the secret of the examples, as it is in the store. */
export const VALUE = textOf('examples/value.json');

/** ExampleOptions says what stands in a test for what the example names. */
export interface ExampleOptions {
  /** The file below examples/ with the configuration. */
  readonly config: string;
  /** Texts of the configuration, such as addresses, and what stands there in the test. Defaults to none. */
  readonly fill?: Readonly<Record<string, string>>;
  /** Where providers find credentials. Defaults to nowhere. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Example is a cluster with the operator as an example configures it. Its namespace stands for `shop`. */
export interface Example extends JasmCluster {
  /** Other names of the examples, and what they are called here. */
  readonly names: Map<string, string>;
  /** apply makes the Pods and Secrets of a file below examples/. Pods stay Pending. */
  apply(file: string): Promise<void>;
  /** untilExampleSecret waits for the Secret that examples/secret.yaml shows. */
  untilExampleSecret(provider: string): Promise<Secret>;
  /**
   * failure brings about that the pod `web` cannot be served, makes it ask again, and answers the message of the event as the page
   * shows it: with the names of the example.
   */
  failure(causeFailure: () => unknown): Promise<string>;
}

/** startExample runs the operator with the configuration of an example. */
export async function startExample({ config, fill = {}, env = {} }: ExampleOptions): Promise<Example> {
  const given = Object.entries(fill).reduce(
    (text, [from, to]) => text.replaceAll(from, to),
    textOf(`examples/${config}`).replaceAll('namespaces: [shop]', 'namespaces: [shop-*]'),
  );
  const { jasm } = parse(given) as { readonly jasm: Readonly<Record<string, unknown>> };
  const c = await jasmCluster({ operators: [jasmWith({ env })], config: jasm, prefix: 'shop' });
  const names = new Map<string, string>();
  const reported = new Set<string>();
  const withPageNames = (text: string): string =>
    [...names, ['shop', c.namespace] as const].reduce((shown, [name, here]) => shown.replaceAll(here, name), text);
  const own: Omit<Example, keyof JasmCluster> = {
    names,
    apply: async (file) => {
      const text = [...names].reduce(
        (filled, [name, here]) => filled.replaceAll(name, here),
        textOf(`examples/${file}`),
      );
      for (const document of parseAllDocuments(text.replaceAll('namespace: shop\n', `namespace: ${c.namespace}\n`))) {
        const object = document.toJS() as KubernetesObject & Pick<Pod, 'spec'>;
        const { schedulerName } = podSpec();
        await (object.kind === 'Secret'
          ? c.admin.create(Secret, object)
          : c.admin.create(Pod, { ...object, spec: { containers: [], ...object.spec, schedulerName } }));
      }
    },
    untilExampleSecret: async (provider) => {
      const wanted = parse(textOf('examples/secret.yaml').replace('<provider>', provider)) as Secret;
      const secret = await c.untilSecret(wanted.metadata?.name ?? '');
      expect(secret).toMatchObject({ metadata: { labels: wanted.metadata?.labels }, type: wanted.type });
      expect(valuesOf(secret)).toEqual(wanted.stringData);
      return secret;
    },
    failure: async (causeFailure) => {
      await causeFailure();
      await c.force('web', `again ${reported.size}`);
      for (let looks = 0; looks < 1_000; looks++) {
        const { items } = await c.admin.list(Event, { namespace: c.namespace });
        const newEvent = items.find(({ reason, note = '' }) => reason === 'SecretFetchFailed' && !reported.has(note));
        if (newEvent?.note !== undefined) {
          reported.add(newEvent.note);
          return withPageNames(newEvent.note);
        }
        // What may be better in a moment is tried again: the time for that has to pass.
        await c.clock.advance(500);
      }
      throw new Error('no event reported a failure to the pod');
    },
  };
  return Object.defineProperties({ ...c, ...own }, Object.getOwnPropertyDescriptors(c));
}

/** errorsIn are the messages in the table of errors of a page. */
export function errorsIn(page: string): readonly string[] {
  const rows = page.slice(page.indexOf('\n## Errors')).matchAll(/^\| (`+)(Secret db: .*?)\1 \|/gm);
  return [...rows].map(([, , message = '']) => message);
}
