import { s } from '@bowline/runtime/resource';

/** contentKey returns the schema of a key of a Secret, as the API server validates it. */
export const contentKey = () => s.string().minLength(1).maxLength(253).pattern('^[-._a-zA-Z0-9]+$');
