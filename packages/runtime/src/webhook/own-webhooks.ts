import type { Source } from '../controller/sources.ts';

/**
 * OWN_WEBHOOKS is a field selector for a source that selects the operator's own ValidatingWebhookConfiguration or
 * MutatingWebhookConfiguration, whatever its name is where the operator runs. The permission to read it is granted by
 * name, so that a manager restricted to namespaces can have it too.
 *
 * @example
 * controller(Page).watches(ValidatingWebhookConfiguration, { fieldSelector: OWN_WEBHOOKS, map: () => [] });
 */
export const OWN_WEBHOOKS = 'metadata.name=(own)';

/** withOwnWebhooks returns a controller or webhook whose OWN_WEBHOOKS sources select the configuration of that name. */
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
