/**
 * IBM's handbook for its own clouds, without the rules that the specification of this interface
 * decides otherwise. All other errors count.
 */
module.exports = {
  extends: require("@ibm-cloud/openapi-ruleset"),
  rules: {
    // The specification names its fields in camelCase: categoryId, petId.
    "ibm-property-casing-convention": "off",
    "ibm-parameter-casing-convention": "off",
    // The specification's Pets is an array, and `status` is optional in a Pet.
    "ibm-no-array-responses": "off",
    "ibm-required-enum-properties-in-response": "off",
    // `format: int64` bounds an integer; a double cannot hold the bound. All other integers have
    // theirs (own test).
    "ibm-integer-attributes": "off",
  },
};
