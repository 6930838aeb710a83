//! The tool `calculate`: evaluates arithmetic expressions.

use super::objects::{object, required_string};
use super::workspace::AgentWorkspace;
use crate::tool_record::{ToolError, ToolOutput};
use serde_json::{Map, Value, json};
use std::iter::Peekable;
use std::str::Chars;

/// Maximum nesting of parentheses and signs.
const MAX_DEPTH: usize = 64;

pub(super) fn run(_workspace: &AgentWorkspace, arguments: &Map<String, Value>) -> ToolOutput {
    let expression = required_string(arguments, "expression");
    let value = evaluate(expression)?;
    if !value.is_finite() {
        return Err(ToolError::execution_error(format!("{expression} has no finite value")));
    }
    // An integer that an `f64` represents exactly is written without a fraction.
    let exact = value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0;
    let value = if exact { json!(value as i64) } else { json!(value) };
    Ok((object(json!({"expression": expression, "value": value})), None))
}

fn evaluate(expression: &str) -> Result<f64, ToolError> {
    let mut parser = Parser { rest: expression.chars().peekable(), depth: 0 };
    let value = parser.sum()?;
    match parser.peek() {
        None => Ok(value),
        Some(found) => Err(ToolError::invalid_arguments(format!("unexpected {found:?} in {expression:?}"))),
    }
}

struct Parser<'a> {
    rest: Peekable<Chars<'a>>,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&mut self) -> Option<char> {
        while self.rest.next_if(|c| c.is_whitespace()).is_some() {}
        self.rest.peek().copied()
    }

    fn accept(&mut self, expected: &[char]) -> Option<char> {
        let found = self.peek().filter(|c| expected.contains(c))?;
        self.rest.next();
        Some(found)
    }

    fn sum(&mut self) -> Result<f64, ToolError> {
        let mut value = self.product()?;
        while let Some(sign) = self.accept(&['+', '-']) {
            let next = self.product()?;
            value = if sign == '+' { value + next } else { value - next };
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<f64, ToolError> {
        let mut value = self.sign()?;
        while let Some(sign) = self.accept(&['*', '/', '%']) {
            let next = self.sign()?;
            if sign != '*' && next == 0.0 {
                return Err(ToolError::execution_error("division by zero"));
            }
            value = match sign {
                '*' => value * next,
                '/' => value / next,
                _ => value % next,
            };
        }
        Ok(value)
    }

    fn sign(&mut self) -> Result<f64, ToolError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ToolError::invalid_arguments("too deeply nested"));
        }
        let value = match self.accept(&['-', '+']) {
            Some('-') => -self.sign()?,
            Some(_) => self.sign()?,
            None => {
                let base = self.atom()?;
                if self.accept(&['^']).is_some() { base.powf(self.sign()?) } else { base }
            }
        };
        self.depth -= 1;
        Ok(value)
    }

    fn atom(&mut self) -> Result<f64, ToolError> {
        if self.accept(&['(']).is_some() {
            let value = self.sum()?;
            return match self.accept(&[')']) {
                Some(_) => Ok(value),
                None => Err(ToolError::invalid_arguments("a closing parenthesis is missing")),
            };
        }
        self.peek();
        let mut digits = String::new();
        while let Some(digit) = self.rest.next_if(|c| c.is_ascii_digit() || *c == '.') {
            digits.push(digit);
        }
        digits.parse().map_err(|_| match self.peek() {
            Some(found) if digits.is_empty() => {
                ToolError::invalid_arguments(format!("expected a number, found {found:?}"))
            }
            _ if digits.is_empty() => ToolError::invalid_arguments("expected a number at the end"),
            _ => ToolError::invalid_arguments(format!("{digits} is not a number")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::evaluate;

    #[test]
    fn expressions_are_evaluated_or_rejected() {
        let cases = [
            ("2+3*4", 14.0),
            ("(2 + 3) * 4", 20.0),
            ("-2^2", -4.0),
            ("2^3^2", 512.0),
            ("7 % 4 - 1", 2.0),
            ("1/4", 0.25),
            ("--3", 3.0),
            (".5*2", 1.0),
        ];
        for (expression, value) in cases {
            assert_eq!(evaluate(expression).unwrap(), value, "{expression}");
        }
        let deep = "(".repeat(100_000);
        for invalid in ["", "2+", "2 3", "1..2", "(1", "x", "1)", "/2", deep.as_str()] {
            assert!(evaluate(invalid).is_err(), "{}", &invalid[..invalid.len().min(20)]);
        }
    }
}
