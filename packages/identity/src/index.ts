export { type BetterAuth, type BetterAuthIdentityOptions, betterAuthIdentity } from './better-auth.ts';
export { type CookieSessionIdentityOptions, cookieSessionIdentity } from './cookie-session.ts';
export { type JwksIdentityOptions, jwksIdentity } from './jwks.ts';
export { type Trust, type TrustedHeaderIdentityOptions, trustedHeaderIdentity } from './trusted-header.ts';
