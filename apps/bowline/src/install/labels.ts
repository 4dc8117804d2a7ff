/** PART_OF is the label of everything that belongs to Bowline. */
export const PART_OF = { 'app.kubernetes.io/part-of': 'bowline' } as const;

/**
 * NAME is the label that names the operator that an object is for, or `bowline` if it is for all operators of an
 * install.
 */
export const NAME = 'app.kubernetes.io/name';

/** INSTALLED_IN is the label that names the install that an object belongs to: the manager's namespace. */
export const INSTALLED_IN = 'bowline.dev/installed-in';

/**
 * PART is the label that records who applies an object: `admin`, or `operator` for a user with rights in the
 * namespaces.
 */
export const PART = 'bowline.dev/part';

/** COMPANION is the label of the companions of an install; its value is the end of the companion's name. */
export const COMPANION = 'bowline.dev/companion';

/** CONFIG_KEY is the key of bowline.yaml in the ConfigMap of an install. */
export const CONFIG_KEY = 'bowline.yaml';
