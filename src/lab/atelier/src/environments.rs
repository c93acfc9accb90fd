//! The trainee's environment as a service over a provider. Owner: node.
