/**
 * OperatorId identifies an operator: its name, and the domain of the organisation that publishes it. An Operator is
 * one.
 */
export interface OperatorId {
  readonly name: string;
  readonly domain: string;
}

/**
 * OperatorIdentity holds every name that an operator leaves in a cluster. All of them are derived from the operator's
 * name and domain, and all of them are part of stored objects: changing one breaks existing installations.
 */
export interface OperatorIdentity extends OperatorId {
  /** The domain as part of a name, see `vendorOf`. The value of the labels `managed-by` and `part-of`. */
  readonly vendor: string;
  /** `<vendor>-<operator>`: the name of the Lease, the ServiceAccount, its roles and the webhook configurations. */
  readonly objectName: string;
  /** The default namespace of a manager: `<vendor>-system`. */
  readonly systemNamespace: string;
  readonly annotations: {
    /** Set to "true" on a primary object, it makes the runtime ignore that object. */
    readonly paused: string;
    /** Set on an object whose deletion orphans its dependents. */
    readonly deletion: string;
    /** Set on the Secret of the webhooks: until when the previous authorities are trusted. */
    readonly previousAuthorityUntil: string;
  };
  readonly labels: {
    /** Set on the objects of the operator's webhooks; its value is the operator's name. */
    readonly webhooksOf: string;
    /** Set on the objects of an install; its value is the manager's namespace. */
    readonly installedIn: string;
    /** Set on the companions of an install; its value is the part of the name after that of the install. */
    readonly companion: string;
  };
  readonly fieldManagers: {
    /** For writes of `setup`, of webhooks and of services that name no field manager. */
    readonly operator: string;
    readonly webhooks: string;
    readonly leaderElection: string;
    readonly crds: string;
    /** For companions, which an administrator installs. */
    readonly install: string;
  };
}

/** operatorIdentity returns the names that are derived from an operator's name and domain. */
export function operatorIdentity({ name, domain }: OperatorId): OperatorIdentity {
  const vendor = vendorOf(domain);
  const objectName = `${vendor}-${name}`;
  return {
    name,
    domain,
    vendor,
    objectName,
    systemNamespace: `${vendor}-system`,
    annotations: {
      paused: `${domain}/paused`,
      deletion: `${domain}/deletion`,
      previousAuthorityUntil: `webhook.${domain}/previous-ca-until`,
    },
    labels: {
      webhooksOf: `webhook.${domain}/operator`,
      installedIn: `${domain}/installed-in`,
      companion: `${domain}/companion`,
    },
    fieldManagers: {
      operator: objectName,
      webhooks: `${objectName}-webhooks`,
      leaderElection: `${vendor}-leader-election`,
      crds: crdFieldManagerOf(domain),
      install: `${objectName}-install`,
    },
  };
}

/**
 * vendorOf returns a domain as part of a name: without its last label, and with dashes for dots. `bowline.dev` becomes
 * `bowline`, `platform.example.com` becomes `platform-example`.
 */
export function vendorOf(domain: string): string {
  return domain.split('.').slice(0, -1).join('-');
}

/** crdFieldManagerOf returns the field manager that owns CustomResourceDefinitions of a domain or API group. */
export function crdFieldManagerOf(domain: string): string {
  return `${vendorOf(domain)}-crds`;
}

/**
 * fieldManagerOf returns the field manager of a controller: `<vendor>-<operator>-<controller>`. It is part of stored
 * objects, so changing one of the names is a breaking change. Together they fit into the API's 128 characters.
 *
 * @example
 * fieldManagerOf({ name: 'shops', domain: 'example.com' }, 'shop'); // example-shops-shop
 */
export function fieldManagerOf(operator: OperatorId, controller: string): string {
  return `${vendorOf(operator.domain)}-${operator.name}-${controller}`;
}

/** domainProblem returns why a domain cannot be used; undefined when it can. */
export function domainProblem(domain: unknown): string | undefined {
  const isDomain = typeof domain === 'string' && domain.length <= MAX_DOMAIN_CHARACTERS && DOMAIN.test(domain);
  return isDomain
    ? undefined
    : `the domain must be a DNS name that you own, with at least one dot and at most ${MAX_DOMAIN_CHARACTERS} characters, such as example.com: labels, annotations and names of objects are derived from it`;
}

/** Keeps `webhook.<domain>` within the 253 characters of a label's prefix, with room for names derived from it. */
const MAX_DOMAIN_CHARACTERS = 200;

const DOMAIN = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)+$/;

/** MANAGED_BY is the label that names the tool that manages an object. */
export const MANAGED_BY = 'app.kubernetes.io/managed-by';

/** NAME is the label that names the operator that an object is for. */
export const NAME = 'app.kubernetes.io/name';

/** PART_OF is the label with the vendor of the operator that an object is for. */
export const PART_OF = 'app.kubernetes.io/part-of';
