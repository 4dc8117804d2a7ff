import type { Source } from '../controller/sources.ts';

/**
 * OWN_WEBHOOKS is the field selector of a source that is the operator's own ValidatingWebhookConfiguration or
 * MutatingWebhookConfiguration, whatever it is called where the operator runs. The right to read it is by name, so that a
 * manager that is limited to namespaces can have it too.
 *
 * @example
 * controller(Page).watches(ValidatingWebhookConfiguration, { fieldSelector: OWN_WEBHOOKS, map: () => [] });
 */
export const OWN_WEBHOOKS = 'metadata.name=(own)';

/** withOwnWebhooks is a controller, or a webhook, that sees the configuration of that name where it declares OWN_WEBHOOKS. */
export function withOwnWebhooks<D extends { readonly sources: readonly Source[] }>(
  declared: D,
  configurationName: string,
): D {
  const fieldSelector = `metadata.name=${configurationName}`;
  return {
    ...declared,
    sources: declared.sources.map((source) =>
      source.fieldSelector === OWN_WEBHOOKS ? { ...source, fieldSelector } : source,
    ),
  };
}
