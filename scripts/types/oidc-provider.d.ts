/** Its main file does nothing else but say that it does not know a Node without long-term support. */
declare module 'oidc-provider/lib/provider.js' {
  export { Provider } from 'oidc-provider';
}

declare module 'oidc-provider/lib/helpers/errors.js' {
  import { errors } from 'oidc-provider';
  export const InvalidTarget: typeof errors.InvalidTarget;
  export const InvalidClientMetadata: typeof errors.InvalidClientMetadata;
  export const InvalidGrant: typeof errors.InvalidGrant;
}
