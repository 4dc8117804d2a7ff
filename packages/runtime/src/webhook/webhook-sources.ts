import type { Informer } from '../cache/informer.ts';
import { cacheReads, indexName, omittedSources } from '../controller/cache-reads.ts';
import type { CacheReads, SourceTypes } from '../controller/sources.ts';
import type { Webhook } from './webhook.ts';
import type { WebhooksOptions } from './webhooks-options.ts';

/** WebhookSources holds the informers that the handlers of an operator's webhooks read. */
export class WebhookSources {
  readonly #reads = new Map<Webhook, CacheReads<SourceTypes>>();
  readonly #informers: Informer<unknown>[] = [];

  constructor({ webhooks, cache }: Pick<WebhooksOptions, 'webhooks' | 'cache'>) {
    for (const webhook of webhooks) {
      const informers = new Map<string, Informer<unknown>>();
      for (const source of webhook.sources) {
        if (source.isOmitted) continue;
        const { name, resource, view, namespaces, labelSelector, fieldSelector, indexes } = source;
        // The builder checked kind, view and indexes against each other; here their types are erased.
        const informer: Informer<unknown> = cache.informer(resource as never, {
          view: view as never,
          namespaces,
          labelSelector,
          fieldSelector,
        });
        for (const [index, values] of Object.entries(indexes)) {
          informer.addIndex(indexName(`webhook/${webhook.name}`, name, index), values);
        }
        informers.set(name, informer);
        this.#informers.push(informer);
      }
      this.#reads.set(webhook, cacheReads(`webhook/${webhook.name}`, informers, omittedSources(webhook.sources)));
    }
  }

  readsOf(webhook: Webhook): CacheReads<SourceTypes> {
    return this.#reads.get(webhook) ?? cacheReads(`webhook/${webhook.name}`, new Map());
  }

  async synced(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#informers.map((informer) => informer.synced(signal)));
  }
}
