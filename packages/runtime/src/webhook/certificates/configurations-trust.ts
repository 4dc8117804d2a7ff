import { MutatingWebhookConfiguration, type Resource, ValidatingWebhookConfiguration } from '@bowline/kubernetes';
import type { Clock } from '@bowline/machinery';
import type { Cache } from '../../cache/cache.ts';
import type { Informer } from '../../cache/informer.ts';
import { project } from '../../cache/view.ts';
import { RepeatLimit } from '../../certificates/repeat-limit.ts';
import type { Trust } from '../../certificates/trust.ts';
import type { Client, WriteOptions } from '../../client/client.ts';
import { BowlineError } from '../../errors/bowline-error.ts';
import type { OperatorIdentity } from '../../identity/operator-identity.ts';
import type { Log } from '../../observability/log.ts';
import { differsFrom, type WebhookConfiguration, type WebhookConfigurations } from '../configurations.ts';
import { WEBHOOK_CONTESTED } from './webhook-certificates.ts';

/** ConfigurationsTrustOptions configures which configurations exist and who owns them. */
export interface ConfigurationsTrustOptions {
  readonly client: Pick<Client, 'find' | 'create' | 'update' | 'patch'>;
  readonly cache: Pick<Cache, 'informer' | 'recordWrite'>;
  readonly identity: OperatorIdentity;
  /** The desired configurations, without a bundle. */
  readonly wanted: WebhookConfigurations;
  /** Whether they are created and updated here. Otherwise only `caBundle` of existing ones is written. */
  readonly own: boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** The part of a configuration that is kept in the cache. */
interface View extends Pick<WebhookConfiguration, 'webhooks'> {
  /** The value of the operator label. */
  readonly operator: string | undefined;
}

interface Part {
  readonly resource: Resource<WebhookConfiguration>;
  readonly name: string;
  readonly wanted: WebhookConfiguration;
  readonly informer: Informer<View>;
  readonly repeats: RepeatLimit;
}

/** ConfigurationsTrust manages the Validating- and MutatingWebhookConfiguration of one operator. */
export class ConfigurationsTrust implements Trust {
  readonly #options: ConfigurationsTrustOptions;
  readonly #parts: readonly Part[];

  constructor(options: ConfigurationsTrustOptions) {
    this.#options = options;
    const view = project(
      (found: WebhookConfiguration): View => ({ operator: this.#operatorOf(found), webhooks: found.webhooks }),
    );
    const part = (resource: Resource<WebhookConfiguration>, wanted: WebhookConfiguration): Part => {
      const name = wanted.metadata?.name ?? '';
      const informer = options.cache.informer(resource, { view, fieldSelector: `metadata.name=${name}` });
      return { resource, name, wanted, informer, repeats: new RepeatLimit(options.clock, WEBHOOK_CONTESTED) };
    };
    const { validating, mutating } = options.wanted;
    this.#parts = [
      ...(validating ? [part(ValidatingWebhookConfiguration, validating)] : []),
      ...(mutating ? [part(MutatingWebhookConfiguration, mutating)] : []),
    ];
  }

  bundles(): readonly string[] {
    return this.#seen().flatMap(({ webhooks = [] }) => webhooks.map(bundleIn));
  }

  ownBundles(): readonly string[] {
    const own = this.#seen().filter(({ operator }) => operator === this.#options.identity.name);
    return own.flatMap(({ webhooks = [] }) => webhooks.map(bundleIn));
  }

  #operatorOf({ metadata }: WebhookConfiguration): string | undefined {
    return metadata?.labels?.[this.#options.identity.labels.webhooksOf];
  }

  #seen(): View[] {
    return this.#parts.map(({ informer, name }) => informer.get({ name })).filter((each) => each !== undefined);
  }

  isCurrent(bundle: string): boolean {
    const { own } = this.#options;
    return this.#parts.every(({ informer, name, wanted }) => {
      const found = informer.get({ name });
      if (!found) return !own;
      return own ? !differsFrom(found, withBundle(wanted, bundle)) : hasBundle(found, bundle);
    });
  }

  async distribute(bundleNow: () => Promise<string | undefined>, signal: AbortSignal): Promise<void> {
    const options = { signal, fieldManager: this.#options.identity.fieldManagers.webhooks };
    for (const part of this.#parts) {
      const found = await this.#options.client.find(part.resource, { name: part.name }, { signal });
      if (!found && !this.#options.own) continue;
      const bundle = await bundleNow();
      if (bundle === undefined) return;
      const written = await (this.#options.own
        ? this.#createOrUpdate(part, found, bundle, options)
        : this.#inject(part, found, bundle, options));
      if (!written) continue;
      this.#options.cache.recordWrite(part.resource, written);
      this.#options.log.info('wrote the webhook configuration', { kind: part.resource.kind, name: part.name });
    }
  }

  async #inject(part: Part, found: WebhookConfiguration | undefined, bundle: string, options: WriteOptions) {
    if (!found || hasBundle(found, bundle)) return undefined;
    this.#refuseForeign(part, found);
    part.repeats.take(`caBundle of the ${part.resource.kind} ${part.name}`, bundle);
    const { resourceVersion } = found.metadata ?? {};
    const webhooks = found.webhooks?.map(({ name }) => ({ name, clientConfig: { caBundle: encode(bundle) } }));
    const body = { metadata: { resourceVersion }, webhooks };
    return await this.#options.client.patch(part.resource, { name: part.name }, { type: 'strategic', body }, options);
  }

  async #createOrUpdate(part: Part, found: WebhookConfiguration | undefined, bundle: string, options: WriteOptions) {
    const { client } = this.#options;
    const wanted = withBundle(part.wanted, bundle);
    const repeat = (): void => part.repeats.take(`the ${part.resource.kind} ${part.name}`, bundle);
    if (!found) {
      repeat();
      return await client.create(part.resource, wanted, options);
    }
    this.#refuseForeign(part, found);
    if (!differsFrom(found, wanted)) return undefined;
    repeat();
    return await client.update(part.resource, { ...found, webhooks: wanted.webhooks ?? [] }, options);
  }

  #refuseForeign({ resource, name }: Part, found: WebhookConfiguration): void {
    const { name: operator, labels } = this.#options.identity;
    if (this.#operatorOf(found) === operator) return;
    throw new BowlineError(
      'BOWLINE_WEBHOOK_CONFIGURATION_FOREIGN',
      `cannot write the ${resource.kind} ${name}: it lacks the label ${labels.webhooksOf}=${operator}, so it was not created by this operator; delete it, label it if it belongs to the operator, or choose another name`,
    );
  }

  subscribe(listener: () => void): Disposable {
    const subscriptions = this.#parts.map(({ informer }) => informer.subscribe(listener));
    return {
      [Symbol.dispose]() {
        for (const each of subscriptions) each[Symbol.dispose]();
      },
    };
  }

  async synced(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#parts.map(({ informer }) => informer.synced(signal)));
  }
}

type ClientConfigured = NonNullable<WebhookConfiguration['webhooks']>[number];

function bundleIn({ clientConfig }: ClientConfigured): string {
  return Buffer.from(clientConfig.caBundle ?? '', 'base64').toString('utf8');
}

function hasBundle({ webhooks = [] }: Pick<View, 'webhooks'>, bundle: string): boolean {
  return webhooks.every((each) => bundleIn(each) === bundle);
}

function encode(bundle: string): string {
  return Buffer.from(bundle).toString('base64');
}

function withBundle(wanted: WebhookConfiguration, bundle: string): WebhookConfiguration {
  const caBundle = encode(bundle);
  const webhooks = wanted.webhooks?.map((each) => ({ ...each, clientConfig: { ...each.clientConfig, caBundle } }));
  return { ...wanted, webhooks };
}
