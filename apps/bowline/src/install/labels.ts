/** PART_OF is the label of everything that belongs to Bowline. */
export const PART_OF = { 'app.kubernetes.io/part-of': 'bowline' } as const;

/** NAME is the label that says which operator an object is for, or `bowline` when it is for all of an install. */
export const NAME = 'app.kubernetes.io/name';

/** INSTALLED_IN is the label that says to which install an object belongs: the manager's namespace. */
export const INSTALLED_IN = 'bowline.dev/installed-in';

/** PART is the label that says who applies an object: `admin`, or `operator` for whoever has rights in the namespaces. */
export const PART = 'bowline.dev/part';

/** CONFIG_KEY is the key of bowline.yaml in the ConfigMap of an install. */
export const CONFIG_KEY = 'bowline.yaml';
