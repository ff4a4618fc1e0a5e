import "./backoff.test";
import "./places.test";
import "./recalledMemory.test";
import "./received.test";
import "./selection.test";
import "./socket.test";
import "./wording.test";
