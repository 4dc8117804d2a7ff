import { ownName } from '../permissions/own-names.ts';

/**
 * OWN_WEBHOOKS is a field selector for a source that selects the operator's own ValidatingWebhookConfiguration or
 * MutatingWebhookConfiguration, whatever its name is where the operator runs. The permission to read it is granted by
 * name, so that a manager restricted to namespaces can have it too.
 *
 * @example
 * controller(Page).watches(ValidatingWebhookConfiguration, { fieldSelector: OWN_WEBHOOKS, map: () => [] });
 */
export const OWN_WEBHOOKS: string = `metadata.name=${ownName()}`;
